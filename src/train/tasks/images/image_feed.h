/* Images as a feed: units of unit-size images at positions that image_plan.h says. */
#ifndef LEAT_TRAIN_TASKS_IMAGES_IMAGE_FEED_H
#define LEAT_TRAIN_TASKS_IMAGES_IMAGE_FEED_H

#include "train/step/feed.h"

extern const leat_feed_class leat_image_feed;

#endif
