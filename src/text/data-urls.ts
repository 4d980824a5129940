/** Names the data in data URLs instead of showing it: `[image png 288 KB]`. Pure. */
import { bytes } from './numbers.ts';

/** A data URL (RFC 2397) with a base64 body. */
export const dataUrl = /^data:([\w.+-]+\/[\w.+-]+)?[^,]{0,200};base64,/;
const dataUrls = /data:([\w.+-]+\/[\w.+-]+)?(?:;[\w.+=-]{1,100})*;base64,([A-Za-z0-9+/=_-]{64,})/g;

/** The decoded size of a base64 string of this length. */
export function sizeOf(length: number): string {
  return bytes(Math.floor((length * 3) / 4)).replace('iB', 'B');
}

/** Turns `image/svg+xml` into `image svg`. */
export function formatMediaType(type: string): string {
  const [kind = '', name = ''] = type.split('/');
  const short = name.replace(/^x-/, '').replace(/\+.*/, '');
  return kind === 'application' ? short : `${kind} ${short}`;
}

const describeData = (type: string | undefined, length: number): string =>
  `[${formatMediaType(type ?? 'data').trim()} ${sizeOf(length)}]`;

/** Replaces data URLs in a text with short descriptions. */
export function withoutData(text: string): string {
  if (!text.includes(';base64,')) return text;
  return text.replace(dataUrls, (_, type: string | undefined, data: string) => describeData(type, data.length));
}

/** The end of a text that may begin a data URL. */
const begunUrl = /d(?:a(?:ta?)?)?$|data:[\w.+/;=-]{0,300}(?:;base64,[A-Za-z0-9+/=_-]{0,63})?$/;
/** A data URL that may continue. */
const openUrl = new RegExp(`${dataUrls.source}$`);

/**
 * Returns a function that does the same with text in pieces. It holds back the beginning of a URL, but not its data, and
 * without a piece returns what it holds.
 */
export function withoutDataStream(): (piece?: string) => string {
  let held = '';
  let open: { readonly type: string | undefined; readonly length: number } | undefined;
  return piece => {
    const isEnd = piece === undefined;
    let [before, text] = ['', piece ?? ''];
    if (open) {
      const { type, length } = open;
      const more = /^[A-Za-z0-9+/=_-]*/.exec(text)?.[0].length ?? 0;
      open = { type, length: length + more };
      if (more === text.length && !isEnd) return '';
      before = describeData(type, length + more);
      text = text.slice(more);
      open = undefined;
    }
    text = held + text;
    held = '';
    const begun = isEnd ? null : (openUrl.exec(text) ?? begunUrl.exec(text));
    if (begun) {
      const [url, type, data] = begun;
      if (data === undefined) held = url;
      else open = { type, length: data.length };
      text = text.slice(0, begun.index);
    }
    return before + withoutData(text);
  };
}
