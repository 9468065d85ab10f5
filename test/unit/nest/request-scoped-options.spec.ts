import { Controller, Get, Injectable, Logger, Scope } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { Locked, LockService, RedisLockModule } from '../../../lib/index.js';
import { HttpApplication } from '../../e2e/support/http-application.js';

@Controller()
class OrdersController {
  constructor(private readonly locks: LockService) {}

  @Get('handler')
  @Locked('order')
  async handler(): Promise<string> {
    return `done under ${this.locks.holds().length} hold`;
  }
}

describe('a factory of options', () => {
  async function answerWith(scope: Scope): Promise<string> {
    @Injectable({ scope })
    class Config {}
    const app = await HttpApplication.start(new ExpressAdapter(), {
      imports: [
        RedisLockModule.forRootAsync({
          extraProviders: [Config],
          inject: [Config],
          useFactory: () => ({ connection: 'memory' }),
        }),
      ],
      controllers: [OrdersController],
    });
    const response = await app.get('/handler');
    await app.stop();
    return response.text();
  }

  it.each([
    ['a singleton', Scope.DEFAULT],
    ['a transient provider', Scope.TRANSIENT],
  ])('may inject %s', async (_which, scope) => {
    expect(await answerWith(scope)).toBe('done under 1 hold');
  });

  it('must not inject a request-scoped provider', async () => {
    const logged = jest.spyOn(Logger.prototype, 'error').mockImplementation();
    expect(JSON.parse(await answerWith(Scope.REQUEST))).toMatchObject({ statusCode: 500 });
    const [error] = logged.mock.calls.map(([first]) => String(first));
    logged.mockRestore();
    expect(error).toContain('The options of RedisLockModule depend on a request-scoped provider');
  });
});
