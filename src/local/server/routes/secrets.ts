/** Secrets: created, listed by metadata, revoked; values are never returned. */
import { notFound } from '../errors.ts';
import type { Area, Handlers, ServiceContext } from '../handlers.ts';
import type { BodyOf } from '../requests.ts';
import { type Issue, invalid } from '../validate.ts';

const longestName = 128;
const longestDescription = 1_000;
const largestValue = 64 * 1024;

function problemsOf({ name, value, description = '' }: BodyOf<'createSecret'>): Issue[] {
  const issues: Issue[] = [];
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) || name.length > longestName) {
    const message = `letters, digits and _ only, no digit first, at most ${longestName} characters`;
    issues.push({ path: 'name', message });
  }
  if (Buffer.byteLength(value) > largestValue) issues.push({ path: 'value', message: `at most ${largestValue} bytes` });
  if (description.length > longestDescription) {
    issues.push({ path: 'description', message: `at most ${longestDescription} characters` });
  }
  return issues;
}

function secretRoutes({ secrets }: ServiceContext): Handlers {
  return {
    createSecret: call => {
      const errors = problemsOf(call.body);
      if (errors.length > 0) throw invalid(errors);
      const { name, value, description = '' } = call.body;
      return { secret: secrets.put(call.organizationId, { name, value, description }) };
    },
    listSecrets: call => secrets.list(call.organizationId, call.query),
    deleteSecret: call => {
      const secret_id = call.params['secret_id'] ?? '';
      if (!secrets.delete(call.organizationId, secret_id)) throw notFound('secret', secret_id);
      return { secret_id, deleted: true };
    },
  };
}

export const secretArea: Area = { name: 'secrets', routes: secretRoutes };
