/** Lazy stand-ins for globals of Node in the bundle: the first mention loads modules that a start does not need. */
const node = globalThis;

/** Checks the type first, so that a request without a body does not load the web streams. */
const isStream = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && value instanceof node.ReadableStream;

/** The target of the proxy is a function: for a class, the proxy would have to return the class's own `prototype`. */
function standIn(): void {}

export const ReadableStream = new Proxy(standIn as unknown as typeof node.ReadableStream, {
  construct: (_, values) => Reflect.construct(node.ReadableStream, values),
  get: (_, name) => (name === Symbol.hasInstance ? isStream : Reflect.get(node.ReadableStream, name)),
});
