/** Something is on its way and there is nothing to show yet. */
import { Text } from 'ink';
import Spinner from 'ink-spinner';

export function Waiting({ words }: { words: string }) {
  return (
    <Text>
      {' '}
      {words}
      {/* Moves at a few frames a second, in its own cells. */}
      <Spinner type="simpleDots" />
    </Text>
  );
}
