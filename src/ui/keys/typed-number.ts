/** A number typed before a key, as in less and vi: `1500G`. The first digit may also be a command's key. */
import type { KeyPress } from './key.ts';

/** A key this soon after a digit belongs to its number, in milliseconds. */
const pauseMs = 500;

export class TypedNumber {
  #digits = '';
  #at = 0;
  #takeBack: (() => void) | undefined;

  /**
   * Adds `number` or `ifNumber` to a press. Returns undefined for a further digit if the first digit ran a command,
   * which is then undone.
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
    // Later digits of the number run no command either.
    this.#takeBack = takeBack && (() => {});
    takeBack?.();
  }

  /** Forgets the digits so far, because digits typed into a field are text. */
  clear(): void {
    this.#digits = '';
  }
}
