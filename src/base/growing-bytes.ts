/**
 * Bytes that arrive in parts. One resizable buffer peaks at their size and is freed at once. `Buffer.concat` keeps the
 * parts and the result until the next garbage collection: 255 MB instead of 185 MB after a response of 50 MB.
 */
export class GrowingBytes {
  readonly #maxBytes: number;
  #bytes: ArrayBuffer;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#bytes = new ArrayBuffer(0, { maxByteLength: maxBytes });
  }

  get size(): number {
    return this.#bytes.byteLength;
  }

  add(part: Uint8Array): void {
    const { size } = this;
    this.#bytes.resize(size + part.byteLength);
    new Uint8Array(this.#bytes, size).set(part);
  }

  /** The bytes so far; valid until `takeText`. */
  view(): Uint8Array {
    return Buffer.from(this.#bytes);
  }

  /** Takes out all bytes, as text. */
  takeText(): string {
    const text = Buffer.from(this.#bytes).toString();
    this.#bytes.transfer(0);
    this.#bytes = new ArrayBuffer(0, { maxByteLength: this.#maxBytes });
    return text;
  }
}
