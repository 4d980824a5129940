/** Lines in a pane. */
import { Box, Text } from 'ink';
import { memo } from 'react';

/** One styled line, truncated to the pane's width. Rendered only when its text changes. */
export const Line = memo(({ text }: { readonly text: string }) => (
  <Text wrap="truncate">{text === '' ? ' ' : text}</Text>
));
Line.displayName = 'Line';

interface LinesProps {
  readonly lines: readonly string[];
  readonly width: number;
  readonly height: number;
}

/** Styled lines, as many as fit; the cheapest element to draw. */
export function Lines({ lines, width, height }: LinesProps) {
  return (
    <Box flexDirection="column" width={width} height={height} flexShrink={0} overflow="hidden">
      {lines.slice(0, height).map((line, index) => (
        <Line key={index} text={line} />
      ))}
    </Box>
  );
}
