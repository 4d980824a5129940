/** Runs a local service in its own process, so that it can be killed. Prints its address. */
import { serve } from '../../../src/local/daemon/serve.ts';

const service = await serve({ dataFolder: process.argv[2] ?? '' });
process.stdout.write(`${JSON.stringify({ baseUrl: service.baseUrl, apiKey: service.apiKey })}\n`);
