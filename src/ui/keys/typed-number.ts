/** A number typed before a key, as in less and vi: `1500G`. The first digit may be the key of a command as well. */
import type { KeyPress } from './key.ts';

/** A key this soon after a digit belongs to its number, in milliseconds. */
const pauseMs = 500;

export class TypedNumber {
  #digits = '';
  #at = 0;
  #takeBack: (() => void) | undefined;

  /**
   * The press with what it needs to know of a number; undefined for one more digit of a number whose first digit was a
   * command, which is taken back.
   */
  read(press: KeyPress): KeyPress | undefined {
    const { name, at = performance.now() } = press;
    const before = at - this.#at < pauseMs ? this.#digits : '';
    this.#at = at;
    if (!/^\d$/.test(name)) {
      this.#digits = '';
      if (before === '') return press;
      const number = (): number => {
        this.#undo();
        return Number(before);
      };
      return { ...press, number };
    }
    this.#digits = before + name;
    if (before === '') {
      this.#takeBack = undefined;
      return { ...press, ifNumber: takeBack => (this.#takeBack = takeBack) };
    }
    if (!this.#takeBack) return press;
    this.#undo();
    return undefined;
  }

  #undo(): void {
    const takeBack = this.#takeBack;
    // The digits that follow are no commands either.
    this.#takeBack = takeBack && (() => {});
    takeBack?.();
  }

  /** Digits typed into a field are text. */
  clear(): void {
    this.#digits = '';
  }
}
