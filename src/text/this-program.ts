/** How this program is started again. */

/** Opens no debugger on SIGUSR1, also before the program listens for it; Node has had the flag since 22.14. */
const noDebugger = '--disable-sigusr1';

/** The command and its first arguments, for what runs in the background. */
export function thisProgram(): { readonly command: string; readonly args: readonly string[] } {
  const { execPath: command, execArgv, argv, allowedNodeEnvironmentFlags: known } = process;
  const added = known.has(noDebugger) && !execArgv.includes(noDebugger) ? [noDebugger] : [];
  return { command, args: [...execArgv, ...added, argv[1] ?? ''] };
}
