/** Stops SIGUSR1 from opening the debugger before the program handles the signal. In Node since 22.14. */
const noDebugger = '--disable-sigusr1';

/** The command that started this program and its first arguments, for starting background processes. */
export function thisProgram(): { readonly command: string; readonly args: readonly string[] } {
  const { execPath: command, execArgv, argv, allowedNodeEnvironmentFlags: allowed } = process;
  const added = allowed.has(noDebugger) && !execArgv.includes(noDebugger) ? [noDebugger] : [];
  return { command, args: [...execArgv, ...added, argv[1] ?? ''] };
}
