import { Controller, Get, Inject, Injectable, type INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import request from 'supertest';
import type { Server } from 'node:http';
import { freePort } from '../../support/free-port.js';

@Injectable()
class Greeter {
  readonly greeting = 'hello';
}

@Controller()
class GreetingController {
  constructor(
    private readonly byType: Greeter,
    @Inject('punctuation') private readonly byToken: string,
  ) {}

  @Get()
  greet(): string {
    return `${this.byType.greeting}${this.byToken}`;
  }
}

describe('the test runner', () => {
  let app: INestApplication<Server> | undefined;

  afterEach(() => app?.close());

  it('runs a Nest application that injects by the type of a parameter', async () => {
    const testing = await Test.createTestingModule({
      controllers: [GreetingController],
      providers: [Greeter, { provide: 'punctuation', useValue: '!' }],
    }).compile();
    app = testing.createNestApplication<INestApplication<Server>>();
    await app.listen(await freePort(), '127.0.0.1');

    await request(app.getHttpServer()).get('/').expect(200, 'hello!');
  });

  it('closes what `await using` declares', async () => {
    const closed: string[] = [];
    const open = (name: string): AsyncDisposable => ({
      async [Symbol.asyncDispose]() {
        await Promise.resolve();
        closed.push(name);
      },
    });

    {
      await using first = open('first');
      await using second = open('second');
      expect([first, second]).toHaveLength(2);
    }

    expect(closed).toEqual(['second', 'first']);
  });
});
