/** Lines in a pane. */
import { Box, Text } from 'ink';

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
        <Text key={index} wrap="truncate">
          {line === '' ? ' ' : line}
        </Text>
      ))}
    </Box>
  );
}
