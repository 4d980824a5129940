/** Shown for a place without a view. */
import { Box, Text } from 'ink';
import type { Place } from '../../resources/place.ts';
import { sanitiseLine } from '../../text/sanitise.ts';
import { globalCommands } from '../keys/general.ts';
import { useKeyOf } from '../keys/router.tsx';
import { viewId } from './registry.ts';
import { useShell } from './shell-context.tsx';
import { usePane, View } from './view.tsx';

interface MissingViewProps {
  readonly place: Place;
  /** Where the program opens; the user goes back here if the history is empty. */
  readonly home: Place;
}

export function MissingView({ place, home }: MissingViewProps) {
  const { navigate, canGoBack } = useShell();
  const pane = usePane('main');
  const keyOf = useKeyOf();
  const leave = (): void => navigate(canGoBack ? { kind: 'leave' } : { kind: 'go', trail: [home] });
  return (
    <View
      bindings={[
        { command: globalCommands.back, run: leave },
        { command: globalCommands.last, run: leave },
      ]}
      main={
        <Box width={pane.width} paddingX={1}>
          <Text wrap="wrap">
            {`There is no view named ${sanitiseLine(viewId(place))}. Press ${keyOf(globalCommands.back)} to go back.`}
          </Text>
        </Box>
      }
    />
  );
}
