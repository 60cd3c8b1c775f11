// A catalog of data sets without images.
#ifndef OPENSET_DATA_TESTING_SMALL_CATALOG_H_
#define OPENSET_DATA_TESTING_SMALL_CATALOG_H_

#include "data/catalog.h"

namespace openset {

// Returns data sets of 4 ("four") and 3 ("three") classes, "class 0" ..., with 10 training and 5 test samples of each;
// "bare" has 2 classes and no part "test".
Catalog SmallCatalog();

}  // namespace openset

#endif  // OPENSET_DATA_TESTING_SMALL_CATALOG_H_
