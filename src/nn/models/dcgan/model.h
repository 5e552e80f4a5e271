/*
 * The DCGAN as a model (nn/model.h). A batch is images, whose latent vectors are those of training
 * (leat_dcgan_noise) at the images' positions. Its passes are one for both networks, or D's, then
 * G's.
 */
#ifndef LEAT_NN_MODELS_DCGAN_MODEL_H
#define LEAT_NN_MODELS_DCGAN_MODEL_H

#include "nn/models/dcgan/dcgan.h"

/* Its settings are leat_dcgan_settings. */
extern const leat_model_class leat_dcgan_class;

/* Of a model of this class: what it computes with. */
leat_dcgan *leat_dcgan_of_model(void *self);

#endif
