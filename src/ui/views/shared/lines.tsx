/** What is said of requests: those of a preview, and that one is awaited. */
import { Text } from 'ink';
import Spinner from 'ink-spinner';
import type { RequestPreview, Requests } from '../../../queries/use-action.ts';
import { clean, safeJson, sanitiseLine } from '../../../text/sanitise.ts';
import { wrap } from '../../../text/wrap.ts';
import { useHeldBackWords } from './asking.ts';

/** Method and path, without the body. */
export function requestLine({ method, path }: RequestPreview): string {
  return clean`${method} ${path}`;
}

/** Each request with its body, wrapped; or the error why they are unknown. Empty without a preview. */
export function requestLines(
  requests: Requests | undefined,
  width: number,
  { bodies = true }: { readonly bodies?: boolean } = {},
): string[] {
  switch (requests?.kind) {
    case undefined:
      return [];
    case 'connecting':
      return ['Connecting…'];
    case 'failed':
      return wrap(sanitiseLine(requests.error.message), width);
    case 'known':
      return requests.requests.flatMap(request => [
        ...wrap(requestLine(request), width),
        ...(bodies && request.body ? wrap(safeJson(request.body, 2), width) : []),
      ]);
  }
}

/** Shown while there is no data yet: what is being loaded, by default the service. */
export function Waiting({ words }: { words?: string | undefined }) {
  const heldBack = useHeldBackWords();
  if (words === undefined && heldBack !== undefined) return <Text>{` ${heldBack}`}</Text>;
  return (
    <Text>
      {' '}
      {words ?? 'Asking the service'}
      {/* Animated at a few frames per second, in its own cells. */}
      <Spinner type="simpleDots" />
    </Text>
  );
}
