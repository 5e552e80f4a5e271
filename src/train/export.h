/* Files of an exported run. */
#ifndef LEAT_TRAIN_EXPORT_H
#define LEAT_TRAIN_EXPORT_H

#define LEAT_EXPORT_G "generator.safetensors"
#define LEAT_EXPORT_D "discriminator.safetensors"

#endif
