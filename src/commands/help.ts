/** `benchtop --help`: the commands and the flags; `benchtop COMMAND --help`: those of one command. */
import { CommandError, exitCodes } from './failure.ts';
import { version } from './version.ts';

const text = `benchtop ${version}: a workbench for a model training and evaluation service

  benchtop                       open the workbench; without a configured service, on the local one
  benchtop --lines               the workbench as plain lines, for screen readers
  benchtop list WHAT             what there is: benchmarks, runs, training, deployments, models…
  benchtop get ID                everything about one thing
  benchtop watch [ID…]           tell each change of what runs, until it has ended
  benchtop chat MODEL [TEXT…]    ask a model, or talk with it
  benchtop upload PATH           a benchmark from a folder, trajectories from a file
  benchtop api OPERATION …       any operation of the service
  benchtop doctor                check the installation and say what to fix
  benchtop serve                 run the local service in the foreground
  benchtop COMMAND --help        more about a command

Which service
  --profile NAME                 a profile of the settings file
  --base-url URL                 the service's address        (BENCHTOP_BASE_URL)
  --inference-url URL            where chat goes, if elsewhere
  --api-key-env NAME             variable that holds the key  (BENCHTOP_API_KEY)
  --api-key-file PATH            file that holds the key, mode 0600
  --ca-file PATH                 certificates to trust besides the system's
  --allow-insecure-http          allow http beyond this machine
  --read-only                    take away everything that writes

How it looks
  --mouse                        take the mouse: wheel, click, double click   (BENCHTOP_MOUSE)
  --notices HOW                  off, bell or desktop: how the end of a run is told
  --theme NAME                   terminal, dark, light, high-contrast or plain

For scripts
  Results go to standard output, all else to standard error; --json gives both as JSON.
  Exit codes: 0 done, 1 refused or ended badly, 2 wrong command line or settings, 3 nobody answered (the same again
  may work), 4 no credential or a wrong one, 5 not found, 130 interrupted.
`;

/** Prints what there is to know of a command, or of all where none is named. @throws CommandError for one that is none */
export function showHelp(name: string | undefined, command: { readonly help?: string } | undefined): number {
  if (name !== undefined && !command) {
    throw new CommandError(`There is no command ${name}. benchtop --help lists what there is.`);
  }
  process.stdout.write(command?.help ?? text);
  return exitCodes.done;
}
