/** The order of test files: the longest start first, so that no worker ends up alone with one. */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Vitest knows how long files take only where it has run them before. In this order; but files with a process of their own
 * begin before those that share one, so that no worker changes back and imports their code twice.
 */
const long = [
  'test/e2e/clone.test.ts',
  'test/e2e/package.test.ts',
  'test/simulate/simulate.test.ts',
  'test/e2e/actions.test.ts',
  'test/add-resource.test.ts',
  'test/e2e/torture.test.ts',
  'test/generations/screens.test.tsx',
  'test/e2e/survival.test.ts',
  'test/e2e/external-programs.test.ts',
  'test/e2e/readme.test.ts',
  'test/e2e/signals.test.ts',
  'test/e2e/generations.test.ts',
  'test/e2e/views.test.ts',
  'test/ui/program/windows.test.tsx',
  'test/local/crash/crash.test.ts',
  'test/ui/program/read-only.test.tsx',
  'test/ui/program/names.test.tsx',
  'test/ui/program/in-turn.test.tsx',
  'test/commands/table.test.ts',
  'test/commands/commands.test.ts',
  'test/ui/program/busy-watch.test.tsx',
  'test/local/daemon/lifecycle.test.ts',
  'test/present/statistics/simulation.test.ts',
  'test/local/server/training.test.ts',
  'test/local/model/samples.test.ts',
  'test/service/chat.test.ts',
  'test/local/engine/rollouts.test.ts',
];

export default class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId, project }: TestSpecification): number => {
      const index = long.findIndex(path => moduleId.endsWith(`/${path}`));
      return (project.config.isolate ? 0 : long.length + 1) + (index === -1 ? long.length : index);
    };
    return (await super.sort(files)).toSorted((left, right) => place(left) - place(right));
  }
}
