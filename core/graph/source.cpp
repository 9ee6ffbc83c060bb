#include "core/graph/source.h"

#include <utility>

namespace sonde::graph {

namespace {

/// A place that is known already.
class KnownPlace final : public SourceRecord {
  public:
    explicit KnownPlace(SourcePlace place) : m_place(std::move(place)) {}
    SourcePlace place() const override { return m_place; }

  private:
    SourcePlace m_place;
};

}  // namespace

std::string SourcePlace::text() const {
    if (file.empty()) return stack;
    return line > 0 ? file + ":" + std::to_string(line) : file;
}

Source::Source(SourcePlace place) {
    if (!place.file.empty() || !place.stack.empty()) m_record = std::make_shared<const KnownPlace>(std::move(place));
}

}  // namespace sonde::graph
