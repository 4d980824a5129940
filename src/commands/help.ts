/** `benchtop --help`: the commands and the flags. */
import { version } from './version.ts';

const text = `benchtop ${version}: a workbench for a model training and evaluation service

  benchtop                       open the workbench; without a configured service, on the local one
  benchtop --lines               the workbench as plain lines, for screen readers
  benchtop serve                 run the local service in the foreground
    --port N, --data FOLDER      where it listens, where it keeps everything
    --upstream URL               chat and rollouts of other models go to this OpenAI-compatible server
    --upstream-key-env NAME      its key; or --upstream-key-file PATH
    --rate-limit N               requests a second of each key
  benchtop serve --status        say whether the local service runs
  benchtop serve --stop          stop it; running work goes on at the next start

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
`;

export async function helpCommand(): Promise<number> {
  process.stdout.write(text);
  return 0;
}
