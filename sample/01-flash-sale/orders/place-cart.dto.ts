import { Type } from 'class-transformer';
import { ArrayMaxSize, ArrayNotEmpty, ArrayUnique, IsArray, ValidateNested } from 'class-validator';
import { PlaceOrderDto } from './place-order.dto.js';

/** Body of `POST /carts`: each product once. */
export class PlaceCartDto {
  @IsArray()
  @ArrayNotEmpty()
  @ArrayMaxSize(20)
  @ArrayUnique((item?: Partial<PlaceOrderDto>) => item?.sku)
  @ValidateNested({ each: true })
  @Type(() => PlaceOrderDto)
  readonly items!: PlaceOrderDto[];
}
