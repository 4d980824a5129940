/**
 * Lazy stand-ins for Intl classes in the bundle. Packages create instances while they load, and the first one costs
 * milliseconds in ICU, although startup needs none.
 */
const { Intl: intl } = globalThis;

export class Segmenter implements Pick<Intl.Segmenter, 'segment'> {
  readonly #options: ConstructorParameters<typeof Intl.Segmenter>;
  #segmenter: Intl.Segmenter | undefined;

  constructor(...options: ConstructorParameters<typeof Intl.Segmenter>) {
    this.#options = options;
  }

  segment(text: string): Intl.Segments {
    this.#segmenter ??= new intl.Segmenter(...this.#options);
    return this.#segmenter.segment(text);
  }
}

export class ListFormat implements Pick<Intl.ListFormat, 'format'> {
  readonly #options: ConstructorParameters<typeof Intl.ListFormat>;

  constructor(...options: ConstructorParameters<typeof Intl.ListFormat>) {
    this.#options = options;
  }

  format(list: Iterable<string>): string {
    return new intl.ListFormat(...this.#options).format(list);
  }
}
