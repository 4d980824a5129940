/**
 * Optional mouse support: the wheel scrolls the part under the pointer, a click focuses and selects, a double click
 * opens. Parts of the screen register their layout positions; while a window is open, the mouse does nothing.
 */
import { type DOMElement, measureElement } from 'ink';
import {
  createContext,
  type ReactNode,
  type RefObject,
  useContext,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { createClicks, type MouseEvent } from './mouse.ts';

export interface MouseSource {
  readonly subscribe: (listener: (event: MouseEvent) => void) => () => void;
}

interface RegionHandlers {
  /** A click on a line of the region, from 0; `times` is 2 for a double click. */
  readonly onClick?: (line: number, times: 1 | 2) => void;
  /** Called when the wheel turns by this many lines, positive for down. */
  readonly onWheel?: (lines: number) => void;
}

interface Region {
  readonly element: RefObject<DOMElement | null>;
  readonly handlers: RefObject<RegionHandlers>;
}

/** Lines per wheel notch. */
const notch = 3;

class Regions {
  readonly #regions = new Set<Region>();

  add(region: Region): () => void {
    this.#regions.add(region);
    return () => this.#regions.delete(region);
  }

  /** The regions at a cell, innermost (smallest) first, each with the line within it. */
  at({ column, row }: MouseEvent): readonly { readonly handlers: RegionHandlers; readonly line: number }[] {
    const found = [...this.#regions].flatMap(({ element, handlers }) => {
      if (!element.current) return [];
      const { x, y, width, height } = measureElement(element.current);
      const line = row - y;
      const inside = line >= 0 && line < height && column >= x && column < x + width;
      return inside ? [{ handlers: handlers.current, line, size: width * height }] : [];
    });
    return found.sort((left, right) => left.size - right.size);
  }
}

const RegionsContext = createContext<Regions | undefined>(undefined);

interface MouseProviderProps {
  readonly source: MouseSource | undefined;
  /** True while a window covers the screen. */
  readonly blocked: boolean;
  /** Called with a handler's error; if it is missing, the error is thrown. */
  readonly onFailure?: (error: unknown) => void;
  readonly children: ReactNode;
}

export function MouseProvider({ source, blocked, onFailure, children }: MouseProviderProps) {
  const [regions] = useState(() => new Regions());
  const [clicks] = useState(() => createClicks(Date.now));
  useEffect(() => {
    if (blocked) return undefined;
    const handle = (event: MouseEvent): void => {
      const hits = regions.at(event);
      const lines = event.kind === 'wheel-up' ? -notch : event.kind === 'wheel-down' ? notch : 0;
      if (lines !== 0) hits.find(({ handlers }) => handlers.onWheel)?.handlers.onWheel?.(lines);
      if (event.kind !== 'press' || event.button !== 'left') return;
      const times = clicks.press(event);
      // Outermost first: a click on a row first focuses its pane.
      for (const { handlers, line } of hits.toReversed()) handlers.onClick?.(line, times);
    };
    return source?.subscribe(event => {
      try {
        handle(event);
      } catch (error) {
        if (!onFailure) throw error;
        onFailure(error);
      }
    });
  }, [source, blocked, regions, clicks, onFailure]);
  return <RegionsContext value={regions}>{children}</RegionsContext>;
}

/** Makes an element a mouse region: pass the ref to a `Box`. */
export function useMouseRegion(handlers: RegionHandlers): RefObject<DOMElement | null> {
  const regions = useContext(RegionsContext);
  const element = useRef<DOMElement>(null);
  const latest = useRef(handlers);
  useLayoutEffect(() => {
    latest.current = handlers;
  });
  useEffect(() => regions?.add({ element, handlers: latest }), [regions]);
  return element;
}
