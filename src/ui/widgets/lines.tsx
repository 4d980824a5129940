/** Lines in a pane. */
import { Box, Text } from 'ink';
import { memo } from 'react';

/** A styled line of its own, cut at the width of the pane. Rendered only when its text changes. */
export const Line = memo(({ text }: { readonly text: string }) => (
  <Text wrap="truncate">{text === '' ? ' ' : text}</Text>
));
Line.displayName = 'Line';

export interface LinesProps {
  readonly lines: readonly string[];
  readonly width: number;
  readonly height: number;
}

/** Styled lines, cut at the height of the pane; the cheapest element to draw. */
export function Lines({ lines, width, height }: LinesProps) {
  return (
    <Box flexDirection="column" width={width} height={height} flexShrink={0} overflow="hidden">
      {lines.slice(0, height).map((line, index) => (
        <Line key={index} text={line} />
      ))}
    </Box>
  );
}
