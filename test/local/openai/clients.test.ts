/** Independent clients of OpenAI’s API, over several turns with the local service. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, type ModelMessage, streamText } from 'ai';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../server/running.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.end());

const model = 'benchtop/aesop-small';
const question = { role: 'user', content: 'tell me about the fox' } as const;

describe("OpenAI's Node client", () => {
  const client = () => new OpenAI({ baseURL: `${service.baseUrl}/v1`, apiKey: service.apiKey, maxRetries: 0 });

  it('chats over several turns, with its answers sent back unchanged', async () => {
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'developer', content: 'be brief' }, question];
    for (let turn = 0; turn < 3; turn += 1) {
      const answer = await client().chat.completions.create({ model, messages, temperature: 0, max_tokens: 5 });
      const [choice] = answer.choices;
      expect(choice?.message.content).toMatch(/\w/);
      if (choice) messages.push(choice.message, { role: 'user', content: [{ type: 'text', text: 'and then?' }] });
    }
    expect(messages).toHaveLength(8);
  });

  it('streams several turns, whose last message is sent back with its nulls', async () => {
    const messages: OpenAI.ChatCompletionMessageParam[] = [question];
    for (let turn = 0; turn < 3; turn += 1) {
      const stream = client().chat.completions.stream({ model, messages, temperature: 0, max_completion_tokens: 5 });
      let said = '';
      for await (const chunk of stream) said += chunk.choices[0]?.delta.content ?? '';
      const message = await stream.finalMessage();
      expect(message.content).toBe(said);
      messages.push(message, { role: 'user', content: 'go on' });
    }
  });

  it('gets a usage chunk only if it asks, and a choice in every other chunk', async () => {
    const body = { model, messages: [question], temperature: 0, max_tokens: 4 };
    for await (const chunk of await client().chat.completions.create({ ...body, stream: true })) {
      expect(chunk.choices).toHaveLength(1);
      expect('usage' in chunk).toBe(false);
    }
    const asked = { ...body, stream: true, stream_options: { include_usage: true } } as const;
    const chunks: OpenAI.ChatCompletionChunk[] = [];
    for await (const chunk of await client().chat.completions.create(asked)) chunks.push(chunk);
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: 4 } });
    for (const chunk of chunks.slice(0, -1)) expect(chunk.usage).toBeNull();
  });

  it('lists the models, and gets each of them', async () => {
    const models = await client().models.list();
    expect(models.data.map(({ id }) => id)).toContain(model);
    expect(await client().models.retrieve(model)).toMatchObject({ id: model, object: 'model' });
    await expect(client().models.retrieve('nobody/nothing')).rejects.toMatchObject({ status: 404, param: 'model' });
  });

  it('throws the class that belongs to the status', async () => {
    const ask = (name: string, key = service.apiKey) =>
      new OpenAI({ baseURL: `${service.baseUrl}/v1`, apiKey: key, maxRetries: 0 }).chat.completions.create({
        model: name,
        messages: [question],
      });
    await expect(ask('nobody/nothing')).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    await expect(ask(model, 'sk-wrong')).rejects.toBeInstanceOf(OpenAI.AuthenticationError);
  });
});

describe("Vercel's AI SDK", () => {
  const chatModel = () =>
    createOpenAICompatible({ name: 'benchtop', baseURL: `${service.baseUrl}/v1`, apiKey: service.apiKey })(model);

  it('chats over several turns, whole and streamed', async () => {
    const messages: ModelMessage[] = [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'tell me' },
          { type: 'text', text: 'about the fox' },
        ],
      },
    ];
    const settings = { model: chatModel(), temperature: 0, maxOutputTokens: 6, maxRetries: 0 };
    const whole = await generateText({ ...settings, messages, instructions: 'be brief' });
    expect(whole.text).toMatch(/\w/);
    expect(whole.usage.outputTokens).toBe(6);
    messages.push(...whole.response.messages, { role: 'user', content: 'and then?' });
    const streamed = streamText({ ...settings, messages });
    let said = '';
    for await (const piece of streamed.textStream) said += piece;
    expect(said).toMatch(/\w/);
    messages.push(...(await streamed.response).messages, { role: 'user', content: 'go on' });
    expect((await generateText({ ...settings, messages, seed: 7, stopSequences: ['.'] })).text).not.toContain('.');
  });
});

describe('curl', () => {
  it('gets an answer to the request in the manual', async () => {
    const body = {
      model,
      messages: [
        { role: 'developer', content: 'You are a helpful assistant.' },
        { role: 'user', content: 'Hello!' },
      ],
    };
    const authorization = `Authorization: Bearer ${service.apiKey}`;
    const json = ['-H', 'Content-Type: application/json', '-d', JSON.stringify(body)];
    const args = ['-sS', `${service.baseUrl}/v1/chat/completions`, ...json, '-H', authorization];
    const { stdout } = await promisify(execFile)('curl', args);
    expect(JSON.parse(stdout)).toMatchObject({
      object: 'chat.completion',
      choices: [{ message: { role: 'assistant' } }],
    });
  });
});
