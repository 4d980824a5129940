import { describe, expect, it } from 'vitest';
import { RequestError } from '../../src/service/errors.ts';
import { createService } from '../../src/service/index.ts';
import { chatAddress, endpointUrl, fillPath, parseBase } from '../../src/service/request.ts';
import { inTime } from '../in-time.ts';

describe('base addresses', () => {
  it.each([
    ['https://service.example/', 'https://service.example/'],
    ['https://service.example/gateway//', 'https://service.example/gateway'],
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8080/'],
    ['http://127.8.9.10', 'http://127.8.9.10/'],
    ['http://localhost:1', 'http://localhost:1/'],
    ['http://[::1]:1', 'http://[::1]:1/'],
  ])('%s is accepted', (given, expected) => {
    expect(parseBase(given, 'baseUrl', false).href).toBe(expected);
  });

  it('with only slashes is read once', () => {
    const slashes = new URL(`https://service.example/${'/'.repeat(200_000)}x`);
    expect(inTime('the base', () => parseBase(slashes.href, 'baseUrl', false)).href).toBe(slashes.href);
    expect(inTime('of chat', () => chatAddress(slashes)).href).toBe(`${slashes.href}/v1/chat/completions`);
  });

  it.each([
    ['http://service.example', 'address_insecure'],
    ['http://127.0.0.1.service.example', 'address_insecure'],
    ['http://localhost.service.example', 'address_insecure'],
    ['https://me:hunter2@service.example', 'address_with_credentials'],
    ['https://hunter2@service.example', 'address_with_credentials'],
    ['ftp://service.example', 'address_invalid'],
    ['service.example hunter2', 'address_invalid'],
    ['https://service.example/?key=hunter2', 'address_invalid'],
    ['', 'address_invalid'],
  ])('%s is refused by name: %s', (given, code) => {
    const make = () => parseBase(given, 'baseUrl', false);
    expect(make).toThrow(RequestError);
    expect(make).toThrow(expect.objectContaining({ code, param: 'baseUrl' }));
    expect(make).not.toThrow(/hunter2/);
  });

  it('http over a network needs permission in the profile', () => {
    expect(parseBase('http://10.0.0.1', 'baseUrl', true).href).toBe('http://10.0.0.1/');
  });

  it('both addresses of a service are checked', () => {
    const options = { apiKey: async () => '', inferenceToken: async () => '', userAgent: 'x' };
    const make = () => createService({ ...options, baseUrl: 'https://a.example', inferenceUrl: 'http://b.example' });
    expect(make).toThrow(expect.objectContaining({ param: 'inferenceUrl', code: 'address_insecure' }));
    expect(createService({ ...options, baseUrl: 'https://a.example/' }).baseUrl).toBe('https://a.example/');
  });
});

describe('paths', () => {
  it.each([
    ['plain', 'plain'],
    ['a/b:c', 'a%2Fb%3Ac'],
    ['a b?c#d%2e', 'a%20b%3Fc%23d%252e'],
    ['../../secrets', '..%2F..%2Fsecrets'],
    ['%2e%2e', '%252e%252e'],
    ['ä😀', '%C3%A4%F0%9F%98%80'],
    ['\ud800', '%EF%BF%BD'],
  ])('keep an id %s as one segment', (id, encoded) => {
    const path = fillPath('/api/v1/eval/{eval_run_id}/progress', { eval_run_id: id });
    const url = endpointUrl(new URL('https://s.example/base'), path);
    expect(url.pathname).toBe(`/base/api/v1/eval/${encoded}/progress`);
  });

  it.each(['', '.', '..'])('refuse an id “%s”', id => {
    expect(() => fillPath('/x/{bench_id}', { bench_id: id })).toThrow(RequestError);
  });

  it('leave out missing query values', () => {
    const url = endpointUrl(new URL('https://s.example'), '/x', { a: 1, b: null, c: undefined, d: false, e: 'ä&' });
    expect(url.href).toBe('https://s.example/x?a=1&d=false&e=%C3%A4%26');
  });
});
