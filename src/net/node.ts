/**
 * Node's network modules, loaded on first use. An `import` of `node:http` also loads Node's fetch, which would delay
 * the first frame by 20 ms.
 */
export const nodeHttp = () => process.getBuiltinModule('node:http');
export const nodeHttps = () => process.getBuiltinModule('node:https');
export const nodeTls = () => process.getBuiltinModule('node:tls');

/** The reason phrase of a status, such as `Not Found`; empty for an unknown one. */
export const statusText = (status: number): string => nodeHttp().STATUS_CODES[status] ?? '';
