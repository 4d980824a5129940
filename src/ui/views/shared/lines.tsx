/** Styled lines in a pane, cut at its height; the cheapest to draw. */
import { Box, Text } from 'ink';

export interface LinesProps {
  readonly lines: readonly string[];
  readonly width: number;
  readonly height: number;
}

export function Lines({ lines, width, height }: LinesProps) {
  return (
    <Box flexDirection="column" width={width} height={height} flexShrink={0} overflow="hidden">
      {lines.slice(0, height).map((line, index) => (
        <Text key={index} wrap="truncate">
          {line === '' ? ' ' : line}
        </Text>
      ))}
    </Box>
  );
}
