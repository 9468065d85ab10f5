import { join } from 'node:path';
import {
  type ClientReadableStream,
  type ClientUnaryCall,
  credentials,
  loadPackageDefinition,
  type ServiceClientConstructor,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { applyDecorators, Controller, UseFilters } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { GrpcMethod, type GrpcOptions, RpcException, Transport as Transports } from '@nestjs/microservices';
import { LockExceptionFilter } from 'nest-redis-lock';
import { freePort } from '../../support/free-port.js';
import { type Composition, streamsResult } from '../composition.js';
import type { Call, Transport } from './transport.js';

const PROTO = join(__dirname, 'compositions.proto');
const definition = loadPackageDefinition(loadSync(PROTO)) as {
  compositions?: Record<'Unary' | 'Stream', ServiceClientConstructor>;
};

interface Reply {
  readonly value: string;
}

/** Calls with one reply, or with a stream of replies where the handler returns an Observable. */
export function grpcTransport(composition: Composition): Transport {
  const service = streamsResult(composition) ? 'Stream' : 'Unary';
  return {
    imports: [],
    decorateClass: (options) => applyDecorators(Controller(options), UseFilters(LockExceptionFilter)),
    route: (route) => GrpcMethod(service, route === 'work' ? 'Work' : 'Plain'),
    valueOf: (text) => ({ value: text }),
    errorOf: (text) => new RpcException({ code: status.FAILED_PRECONDITION, message: text }),
    async start(module, _scene, options) {
      const url = `127.0.0.1:${await freePort()}`;
      const app = await NestFactory.createMicroservice<GrpcOptions>(module, {
        ...options,
        transport: Transports.GRPC,
        options: { url, package: 'compositions', protoPath: PROTO },
      });
      await app.listen();
      const client = clientOf(service, url);
      return {
        app,
        call: (id, route) => {
          const method = client[route].bind(client) as UnaryMethod & StreamMethod;
          return service === 'Unary' ? unaryCall(method, id) : streamCall(method, id);
        },
        disconnect: () => client.close(),
      };
    },
  };
}

type UnaryMethod = (
  request: { id: string },
  done: (error: ServiceError | null, reply?: Reply) => void,
) => ClientUnaryCall;
type StreamMethod = (request: { id: string }) => ClientReadableStream<Reply>;
type Client = InstanceType<ServiceClientConstructor> & Record<'work' | 'plain', UnaryMethod | StreamMethod>;

function clientOf(service: 'Unary' | 'Stream', url: string): Client {
  const Client = definition.compositions?.[service];
  if (Client === undefined) throw new Error(`${PROTO} has no service ${service}`);
  return new Client(url, credentials.createInsecure()) as Client;
}

function unaryCall(method: UnaryMethod, id: string): Call {
  let call: ClientUnaryCall | undefined;
  const answer = new Promise<string>((resolve) => {
    call = method({ id }, (error, reply) => resolve(error ? describe(error) : JSON.stringify(reply)));
  });
  return { answer, leave: () => call?.cancel() };
}

function streamCall(method: StreamMethod, id: string): Call {
  const replies: Reply[] = [];
  const call = method({ id });
  const answer = new Promise<string>((resolve) => {
    call.on('data', (reply: Reply) => replies.push(reply));
    call.once('error', (error: ServiceError) => resolve(describe(error)));
    call.once('end', () => resolve(JSON.stringify(replies)));
  });
  return { answer, leave: () => call.cancel() };
}

function describe({ code, details }: ServiceError): string {
  const isAnswer =
    code !== status.CANCELLED && !(code === status.UNAVAILABLE && !details.startsWith('The service'));
  return isAnswer ? `error ${code} ${details}` : `no answer: ${details}`;
}
