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

ClassesByName::ClassesByName(const DataSetInfo& info) {
  for (int id = 0; id < info.class_name_size(); ++id) {
    exact_.emplace(info.class_name(id), id);
    composed_[Composed(info.class_name(id))].push_back(id);
  }
}

std::vector<int> ClassesByName::Find(absl::string_view name) const {
  if (const auto exact = exact_.find(name); exact != exact_.end()) return {exact->second};
  const auto composed = composed_.find(Composed(name));
  return composed == composed_.end() ? std::vector<int>() : composed->second;
}

}  // namespace openset
