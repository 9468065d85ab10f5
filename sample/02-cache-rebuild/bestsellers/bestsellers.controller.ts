import { Controller, Get, Param } from '@nestjs/common';
import type { Bestseller } from './bestseller.interface.js';
import { BestsellersService } from './bestsellers.service.js';

@Controller('bestsellers')
export class BestsellersController {
  constructor(private readonly bestsellers: BestsellersService) {}

  @Get(':category')
  read(@Param('category') category: string): Promise<Bestseller[]> {
    return this.bestsellers.read(category);
  }
}
