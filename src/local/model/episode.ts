/** A rollout of several turns: the model calls tools until it answers. */

import type { ChatTurn, Generated } from './policy.ts';
import { callTool, mostSteps, type ToolResult, type ToolSpec } from './tools.ts';

/** A tool call and its result. */
export interface ToolTurn {
  readonly generated: Generated;
  readonly result: ToolResult;
}

export interface Episode {
  readonly calls: readonly ToolTurn[];
  /** Null if the steps ran out before the model answered. */
  readonly answer: Generated | null;
}

/** Yields each of a rollout's prompts and receives the model's text. Without tools, the first text is the answer. */
export function* episode(
  turns: readonly ChatTurn[],
  tools: ToolSpec | undefined,
): Generator<readonly ChatTurn[], Episode, Generated> {
  const calls: ToolTurn[] = [];
  let conversation = turns;
  while (calls.length < mostSteps(tools)) {
    const generated = yield conversation;
    const result = tools && callTool(tools, generated.text);
    if (!result) return { calls, answer: generated };
    calls.push({ generated, result });
    conversation = [
      ...conversation,
      { role: 'assistant', content: generated.text },
      { role: 'tool', content: result.text },
    ];
  }
  return { calls, answer: null };
}
