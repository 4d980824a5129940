/** Lazy stand-ins for Node globals in the bundle: using the real ones loads modules that startup does not need. */
const node = globalThis;

/** Checks the type first, so that a request without a body does not load the web streams. */
const isStream = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && value instanceof node.ReadableStream;

/** The proxy's target is a function: for a class, the proxy would have to return the class's own `prototype`. */
function standIn(): void {}

export const ReadableStream = new Proxy(standIn as unknown as typeof node.ReadableStream, {
  construct: (_, values) => Reflect.construct(node.ReadableStream, values),
  get: (_, name) => (name === Symbol.hasInstance ? isStream : Reflect.get(node.ReadableStream, name)),
});
