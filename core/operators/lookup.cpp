// From the rows of all families to one table for each domain.

#include <algorithm>
#include <deque>
#include <string>
#include <unordered_map>

#include "core/operators/names.h"
#include "core/operators/tables.h"

namespace sonde::operators {

namespace {

class Table {
  public:
    explicit Table(std::initializer_list<std::span<const Row>> families) {
        for (const std::span<const Row> rows : families) {
            for (const Row& row : rows) {
                std::string_view rest = row.names;
                while (!rest.empty()) {
                    const std::string_view name = rest.substr(0, rest.find(' '));
                    m_traits.emplace(name, row.traits);
                    rest.remove_prefix(std::min(name.size() + 1, rest.size()));
                }
            }
        }
    }

    const Traits* find(std::string_view name) const {
        const auto found = m_traits.find(name);
        return found == m_traits.end() ? nullptr : &found->second;
    }

    std::vector<std::string_view> namesWith(Trait trait) const {
        std::vector<std::string_view> names;
        for (const auto& [name, traits] : m_traits) {
            if (traits.is(trait)) names.push_back(name);
        }
        std::ranges::sort(names);
        return names;
    }

    /// Other names of ATen, and names of in-place forms. What a row says itself stands.
    void addDerivedNames() {
        for (const Alias& alias : aliases()) {
            const Traits* original = find(alias.original);
            if (!original) continue;
            Traits traits =
                alias.hasInPlaceForm ? original->with(Trait::HasInPlaceForm) : original->without(Trait::HasInPlaceForm);
            if (alias.copies) {
                traits.memory = {};
                traits.form = ViewForm::None;
                traits = traits.without(Trait::Overlaps);
                if (traits.opClass == OpClass::Identity) traits.opClass = OpClass::Clone;
            }
            m_traits.emplace(alias.name, traits);
        }
        for (const Alias& alias : exactAliases()) {
            const Traits* original = isInPlaceName(alias.name) ? nullptr : find(withoutOverload(alias.original));
            if (original) m_traits.emplace(alias.name, original->without(Trait::HasInPlaceForm));
        }
        std::deque<std::pair<std::string_view, Traits>> writing;
        for (const auto& [name, traits] : m_traits) {
            if (!traits.is(Trait::HasInPlaceForm)) continue;
            Traits made = traits.with(Trait::InPlace).without(Trait::HasInPlaceForm);
            const bool reforms = traits.memory.sharing == Sharing::View;
            made.memory = {Sharing::Written, false, !reforms, reforms};
            if (!reforms) made.form = ViewForm::None;
            writing.emplace_back(m_names.emplace_back(inPlaceName(name)), made);
        }
        for (const auto& [name, traits] : writing) m_traits.emplace(name, traits);
    }

  private:
    std::deque<std::string> m_names;  // the table holds views of them
    std::unordered_map<std::string_view, Traits> m_traits;
};

const Table& atenTable() {
    static const Table table = [] {
        Table made{elementwiseRows(), layerRows(), viewRows(), creationRows(), dataRows()};
        made.addDerivedNames();
        return made;
    }();
    return table;
}

const Table* tableOf(std::string_view domain) {
    static const Table onnx{onnxRows()}, contrib{contribRows()}, preview{previewRows()},
        training{previewTrainingRows()}, python{pythonRows()}, own{ownRows()};
    if (domain.empty() || domain == "ai.onnx") return &onnx;
    if (domain == "aten") return &atenTable();
    if (domain == "prim") return &python;
    if (domain == "com.microsoft") return &contrib;
    if (domain == "sonde") return &own;
    if (domain == "ai.onnx.preview") return &preview;
    if (domain == "ai.onnx.preview.training") return &training;
    return nullptr;
}

constexpr Traits kUnknown{};
constexpr Traits kUnknownWrite = Traits{.memory = {Sharing::Written, false, true}}.with(Trait::InPlace);

}  // namespace

const Traits& traitsOf(std::string_view domain, std::string_view operatorName) {
    const Table* table = tableOf(domain);
    if (!table) return kUnknown;
    const bool hasOverloads = domain == "aten" || domain == "prim";
    const std::string_view name = hasOverloads ? withoutOverload(operatorName) : operatorName;
    if (const Traits* found = table->find(name)) return *found;
    return domain == "aten" && isInPlaceName(name) ? kUnknownWrite : kUnknown;
}

std::vector<std::string_view> operatorsWithInPlaceForm() { return atenTable().namesWith(Trait::HasInPlaceForm); }

}  // namespace sonde::operators
