/** Secrets: created, listed by metadata, revoked; values are never returned. */
import { notFound } from '../errors.ts';
import type { Area } from '../handlers.ts';
import type { BodyOf } from '../requests.ts';
import { type Issue, invalid } from '../validate.ts';

const longestName = 128;
const longestDescription = 1_000;
const largestValue = 64 * 1024;

function secretIssues({ name, value, description = '' }: BodyOf<'createSecret'>): Issue[] {
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

export const secretArea: Area = {
  name: 'secrets',
  routes: {
    createSecret: ({ secrets }, { organizationId, body }) => {
      const issues = secretIssues(body);
      if (issues.length > 0) throw invalid(issues);
      const { name, value, description = '' } = body;
      return { secret: secrets.put(organizationId, { name, value, description }) };
    },
    listSecrets: ({ secrets }, { organizationId, query }) => secrets.list(organizationId, query),
    deleteSecret: ({ secrets }, { organizationId, params }) => {
      const secret_id = params['secret_id'] ?? '';
      if (!secrets.delete(organizationId, secret_id)) throw notFound('secret', secret_id);
      return { secret_id, deleted: true };
    },
  },
};
