/**
 * Node's own network modules, loaded when they are used: an `import` of `node:http` also loads Node's fetch, which
 * takes 20 ms that the first frame would wait for.
 */
export const nodeHttp = () => process.getBuiltinModule('node:http');
export const nodeHttps = () => process.getBuiltinModule('node:https');
export const nodeTls = () => process.getBuiltinModule('node:tls');

/** The reason phrase of a status, such as `Not Found`; empty for an unknown one. */
export const statusText = (status: number): string => nodeHttp().STATUS_CODES[status] ?? '';
