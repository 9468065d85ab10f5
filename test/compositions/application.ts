import {
  type CallHandler,
  type CanActivate,
  createParamDecorator,
  type ExecutionContext,
  Inject,
  Injectable,
  mixin,
  Module,
  type NestInterceptor,
  type PipeTransform,
  Scope,
  type Type,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { Locked, RedisLockModule } from 'nest-redis-lock';
import { Observable } from 'rxjs';
import { type Around, type Composition, locksHandler } from './composition.js';
import { type Enter, Handlers } from './handlers.js';
import type { Level, Scene, Section } from './scene.js';
import { shapeOf } from './shapes.js';
import type { Transport } from './transports/transport.js';
import { Instrumented } from './wrappings.js';

const FREE: Section = { check: () => {}, end: () => {} };

/** The request without a lock. */
function isReference(id: string): boolean {
  return id.startsWith('plain');
}

/** The id of the request around a handler. */
function idOf(context: ExecutionContext): string {
  const type = context.getType<string>();
  if (type === 'rpc') return context.switchToRpc().getData<{ id: string }>().id;
  if (type === 'ws') return context.switchToWs().getData<{ id: string }>().id;
  const request: { query: { id: string } } =
    type === 'graphql' ? context.getArgByIndex(2).req : context.switchToHttp().getRequest();
  return request.query.id;
}

/** Tells that the client of a gRPC call has left. */
function tellOfCancelling(context: ExecutionContext, leave: () => void): void {
  const call: { once?(event: 'cancelled', leave: () => void): void } =
    context.getType() === 'rpc' ? (context.getArgByIndex(2) ?? {}) : {};
  call.once?.('cancelled', leave);
}

const nothing = (): void => {};
/** A decorator that applies only in some compositions. */
const when = (condition: boolean, decorator: () => MethodDecorator): MethodDecorator =>
  condition ? decorator() : nothing;

/** An application that consists of the parts of a composition. */
export class ComposedApplication {
  readonly module: Type;
  private readonly handlers: Handlers;
  private readonly classes = new Set<unknown>();

  constructor(
    private readonly composition: Composition,
    private readonly scene: Scene,
    private readonly transport: Transport,
  ) {
    this.handlers = new Handlers(composition, transport);
    this.module = this.moduleOf();
  }

  /** Whether an instance is one of this application, not of a library. */
  isOwn(instance: unknown): instance is object {
    return typeof instance === 'object' && instance !== null && this.classes.has(instance.constructor);
  }

  private moduleOf(): Type {
    const { composition, transport } = this;
    const stock = this.stock();
    const edge = this.edge(stock);
    const isController = composition.transport !== 'ws' && composition.transport !== 'graphql';
    const globals = this.interceptorsAt('global').map((useValue) => ({ provide: APP_INTERCEPTOR, useValue }));
    @Module({
      imports: [
        RedisLockModule.forRoot({ connection: 'memory', wait: 20_000, shutdownTimeout: 5_000 }),
        ...(transport.imports as Type[]),
      ],
      controllers: isController ? [edge] : [],
      providers: [stock, ...globals, ...(isController ? [] : [edge])],
    })
    class Composed {}
    return Composed;
  }

  /** The class of the service. */
  private stock(): Type<Stock> {
    const { composition, handlers, scene } = this;
    const own = composition.below === 'same name' ? 'stock' : 'depot';
    const enter =
      (id: string, level: Level, name: string): Enter =>
      () =>
        this.enter(id, level, name);

    @Injectable(this.scope)
    class ComposedStock implements Stock {
      @(this.locked(own))
      @(this.returns())
      take(id: string): unknown {
        return handlers.serve(id, enter(id, 'service', own));
      }

      plain(id: string): unknown {
        return handlers.serve(id, () => FREE);
      }

      @(this.locked('stock'))
      async later(id: string): Promise<void> {
        const section = scene.enter(id, 'background', this.namesOf(id));
        await handlers.work();
        section.end();
      }

      private namesOf(id: string): string[] {
        return namesOf(composition, 'stock', id);
      }
    }
    this.classes.add(ComposedStock);
    return ComposedStock;
  }

  /** The class of the controller, gateway or resolver. */
  private edge(stock: Type<Stock>): Type {
    const { composition, scene, transport } = this;
    const { wrapping } = composition;
    const Id = createParamDecorator((_data: unknown, context: ExecutionContext) => {
      const id = idOf(context);
      scene.arrived(id);
      tellOfCancelling(context, () => scene.left(id));
      scene.watch(...context.getArgs().filter((arg: unknown) => typeof arg === 'object' && arg !== null));
      return id;
    });
    const pipes = composition.pipe ? [new SlowPipe()] : [];
    const isLockedInMixin = wrapping === 'mixin';
    const work = (self: Edge, id: string): unknown => this.work(self.stock, id);
    const plain = (self: Edge, id: string): unknown => this.plain(self.stock, id);
    const locksHere = locksHandler(composition) && !isLockedInMixin;

    class Base implements Edge {
      @Inject(stock) declare readonly stock: Stock;

      constructor() {
        if (wrapping === 'bound') {
          this.work = this.work.bind(this);
          this.plain = this.plain.bind(this);
        }
      }

      @transport.route('work')
      @(this.around('method'))
      @when(wrapping === 'agent', Instrumented)
      @when(locksHere, () => this.locked('stock'))
      @(this.returns())
      work(@Id(...pipes) id: string): unknown {
        return work(this, id);
      }

      @transport.route('plain')
      @(this.around('method'))
      @when(wrapping === 'agent', Instrumented)
      @(this.returns())
      plain(@Id(...pipes) id: string): unknown {
        return plain(this, id);
      }
    }

    class Subclass extends Base {}

    class Override extends Base {
      @transport.route('work')
      @(this.around('method'))
      @(this.returns())
      override work(@Id(...pipes) id: string): unknown {
        return super.work(id);
      }
    }

    class Mixed extends Base {
      @transport.route('work')
      @(this.around('method'))
      @when(isLockedInMixin && locksHandler(composition), () => this.locked('stock'))
      @(this.returns())
      override work(@Id(...pipes) id: string): unknown {
        return super.work(id);
      }
    }

    const finals: Partial<Record<Composition['wrapping'], () => Type>> = {
      subclass: () => Subclass,
      override: () => Override,
      mixin: () => mixin(Mixed),
    };
    const edge = finals[wrapping]?.() ?? Base;
    transport.decorateClass(this.scope)(edge);
    const interceptors = this.interceptorsAt('class');
    if (interceptors.length > 0) UseInterceptors(...interceptors)(edge);
    this.classes.add(edge);
    return edge;
  }

  private work(stock: Stock, id: string): unknown {
    const { composition, handlers } = this;
    const enter = (): Section => {
      if (composition.leftBehind !== 'nothing') this.leaveBehind(stock, id);
      return locksHandler(composition) ? this.enter(id, 'handler', 'stock') : FREE;
    };
    return handlers.respond(
      id,
      enter,
      composition.locked === 'handler' ? undefined : () => this.callService(stock, id),
    );
  }

  private callService(stock: Stock, id: string): unknown {
    this.scene.callsService(id);
    return stock.take(id);
  }

  private plain(stock: Stock, id: string): unknown {
    const below = this.composition.locked === 'handler' ? undefined : () => stock.plain(id);
    return this.handlers.respond(id, () => FREE, below);
  }

  /** What the handler leaves running. */
  private leaveBehind(stock: Stock, id: string): void {
    if (this.composition.leftBehind === 'timer') return this.scene.keepTimer();
    this.scene.runLater(() => stock.later(id));
  }

  private enter(id: string, level: Level, name: string): Section {
    return this.scene.enter(id, level, namesOf(this.composition, name, id));
  }

  private locked(name: string): MethodDecorator {
    const { names, wait } = this.composition;
    const options = wait === 'short' ? { wait: 3 } : {};
    return Locked(names === 2 ? [name, `${name}:<0>`] : name, options);
  }

  private returns(): MethodDecorator {
    return Reflect.metadata('design:returntype', this.handlers.streams ? Observable : Promise);
  }

  /** The guard and the interceptors of a method. */
  private around(level: Around['level']): MethodDecorator {
    const interceptors = this.interceptorsAt(level);
    const guards = this.composition.guard ? [new SlowGuard()] : [];
    return (target, key, descriptor) => {
      if (interceptors.length > 0) UseInterceptors(...interceptors)(target, key, descriptor);
      if (guards.length > 0) UseGuards(...guards)(target, key, descriptor);
    };
  }

  private interceptorsAt(level: Around['level']): NestInterceptor[] {
    const interceptors = this.composition.interceptors.filter((each) => each.level === level);
    return interceptors.map((each) => new ComposedInterceptor(each, this.scene, this.transport));
  }

  private get scope(): { scope?: Scope; durable?: boolean } {
    const { scope } = this.composition;
    return scope === 'singleton' ? {} : { scope: Scope.REQUEST, durable: scope === 'durable' };
  }
}

/** The members of a service. */
interface Stock {
  take(id: string): unknown;
  plain(id: string): unknown;
  later(id: string): Promise<void>;
}

/** The members of a controller, gateway or resolver. */
interface Edge {
  readonly stock: Stock;
}

function namesOf({ names }: Composition, name: string, id: string): string[] {
  return names === 2 ? [name, `${name}:${id}`] : [name];
}

class SlowGuard implements CanActivate {
  async canActivate(): Promise<boolean> {
    await Promise.resolve();
    return true;
  }
}

class SlowPipe implements PipeTransform {
  async transform(value: unknown): Promise<unknown> {
    await Promise.resolve();
    return value;
  }
}

class ComposedInterceptor implements NestInterceptor {
  constructor(
    private readonly part: Around,
    private readonly scene: Scene,
    private readonly transport: Transport,
  ) {}

  intercept(
    context: ExecutionContext,
    next: CallHandler,
  ): Observable<unknown> | Promise<Observable<unknown>> {
    const id = idOf(context);
    this.scene.arrived(id);
    return shapeOf(this.part.shape)({
      handle: () => next.handle(),
      begin: () => this.scene.begin(id),
      commitAfter: this.part.commitAfter,
      lock: (work) => (isReference(id) ? work() : this.scene.lock(id, this.part, work)),
      outlives: (work) => this.scene.outlives(work),
      client: Number(id.replace(/\D/g, '')),
      isReference: isReference(id),
      valueOf: (text) => this.transport.valueOf(text),
      errorOf: (text) => this.transport.errorOf(text),
    });
  }
}
