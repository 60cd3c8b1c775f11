#include "data/class_names.h"

#include <utf8proc.h>

#include <cstdlib>
#include <memory>

namespace openset {

std::string Composed(absl::string_view name) {
  utf8proc_uint8_t* composed = nullptr;
  const utf8proc_ssize_t size =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(name.data()), static_cast<utf8proc_ssize_t>(name.size()),
                   &composed, static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  const std::unique_ptr<utf8proc_uint8_t, void (*)(void*)> owner(composed, std::free);
  if (size < 0) return std::string(name);
  return std::string(reinterpret_cast<const char*>(composed), static_cast<size_t>(size));
}

std::vector<int> ClassesNamed(absl::string_view name, const DataSetInfo& info) {
  std::vector<int> ids;
  for (int id = 0; id < info.class_name_size(); ++id) {
    if (info.class_name(id) == name) return {id};
  }
  const std::string composed = Composed(name);
  for (int id = 0; id < info.class_name_size(); ++id) {
    if (Composed(info.class_name(id)) == composed) ids.push_back(id);
  }
  return ids;
}

}  // namespace openset
