/** Every setting and variable has a description. */
import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { settingsSchema } from '../../src/config/json-schema.ts';
import { assumptionReference, variables } from '../../src/config/reference.ts';
import { settings } from '../../src/config/schema.ts';

describe('the reference of variables', () => {
  it('lists every variable that the program reads, and no other', () => {
    const named = new Set(variables.flatMap(({ names }) => names));
    const read = new Set<string>();
    for (const path of globSync('src/**/*.{ts,tsx}')) {
      if (path.endsWith('reference.ts')) continue;
      const text = readFileSync(path, 'utf8');
      for (const [name] of text.matchAll(/\bBENCHTOP_[A-Z_]*[A-Z]\b/g)) read.add(name);
      for (const [, name = ''] of text.matchAll(/(?:environment|env)(?:\.|\[')([A-Z][A-Z_]+)\b/g)) read.add(name);
    }
    // `HOME` contains the folders; the options of Node are not the program's own.
    const internal = ['HOME', 'NODE_OPTIONS'];
    expect([...read].filter(name => !named.has(name) && !internal.includes(name))).toEqual([]);
    expect([...named].filter(name => name.startsWith('BENCHTOP_') && !read.has(name))).toEqual([]);
  });
});

describe('the JSON Schema of the settings', () => {
  const text = JSON.stringify(settingsSchema());

  it('describes every setting', () => {
    const undescribed: string[] = [];
    const walk = (node: unknown, path: string): void => {
      if (typeof node !== 'object' || node === null) return;
      const { properties = {}, additionalProperties } = node as Record<string, Record<string, object>>;
      for (const [name, property] of Object.entries(properties)) {
        const isGroup = 'properties' in property;
        if (!isGroup && !('description' in property)) undescribed.push(`${path}${name}`);
        walk(property, `${path}${name}.`);
      }
      walk(additionalProperties, `${path}*.`);
    };
    walk(settingsSchema(), '');
    expect(undescribed).toEqual([]);
    for (const name of [...Object.keys(settings().shape), 'apiKeyCommand', 'focusedSeconds']) {
      expect(text).toContain(`"${name}":{`);
    }
  });

  it('accepts and refuses the same as the program', () => {
    const schema = z.fromJSONSchema(settingsSchema());
    const given = {
      $schema: 'x',
      theme: 'dark',
      profiles: { lab: { apiKeyCommand: ['pass', 'lab'] } },
      keys: { 'go.up': [] },
    };
    expect(schema.safeParse(given).success).toBe(true);
    for (const wrong of [
      { teme: 'dark' },
      { theme: 'pink' },
      { profiles: { lab: { baseURL: 'x' } } },
      { poll: { focusedSeconds: 0 } },
    ]) {
      expect([wrong, settings().safeParse(wrong).success, schema.safeParse(wrong).success]).toEqual([
        wrong,
        false,
        false,
      ]);
    }
  });

  it('lists the assumptions with their meaning (C4)', () => {
    const schema = z.fromJSONSchema(settingsSchema());
    const fits = (assumptions: object): boolean => schema.safeParse({ profiles: { lab: { assumptions } } }).success;
    expect(settingsSchema()).toMatchObject({
      properties: {
        profiles: {
          additionalProperties: {
            properties: {
              assumptions: {
                propertyNames: { enum: expect.arrayContaining(['query.limit', 'path.deleteEvalRun']) },
                properties: { 'query.limit': { default: 'limit', description: assumptionReference['query.limit'] } },
              },
            },
          },
        },
      },
    });
    expect(fits({ 'query.limit': 'page_size', 'path.getEvalRun': '/x', streamChat: 'no' })).toBe(true);
    expect([fits({ 'query.limits': 'x' }), fits({ 'query.limit': 5 }), fits({ streamChat: 'maybe' })]).toEqual([
      false,
      false,
      false,
    ]);
  });

  it('allows its own name and refuses unknown settings', () => {
    expect(settingsSchema()).toMatchObject({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      additionalProperties: false,
      properties: { $schema: { type: 'string' }, theme: { enum: expect.arrayContaining(['plain']) } },
    });
  });
});
