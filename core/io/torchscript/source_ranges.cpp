#include "core/io/torchscript/source_ranges.h"

#include <algorithm>
#include <limits>
#include <map>

#include "core/io/torchscript/pickle.h"

namespace sonde::io::script {

using tensor::Value;
using tensor::ValueKind;
using tensor::ValueList;

namespace {

constexpr std::string_view kTableFormat = "FORMAT_WITH_STRING_TABLE";
/// Texts of one file put together; a source file of a model is far below.
constexpr std::size_t kMaxTextBytes = std::size_t{64} << 20;

bool isList(const Value& value, std::size_t least) {
    return (value.kind() == ValueKind::Tuple || value.kind() == ValueKind::List) && value.items().size() >= least;
}

std::int64_t number(const Value& value) { return value.kind() == ValueKind::Int ? value.toInt() : 0; }

std::uint32_t clamped(const Value& value) {
    return static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(number(value), 0, std::numeric_limits<std::uint32_t>::max()));
}

/// Gives strings numbers; the same one always gets the same.
class Table {
  public:
    explicit Table(std::vector<std::string>& strings) : m_strings(strings) {}
    std::uint32_t add(std::string text) {
        const auto [at, isNew] = m_numbers.try_emplace(text, static_cast<std::uint32_t>(m_strings.size()));
        if (isNew) m_strings.push_back(std::move(text));
        return at->second;
    }

  private:
    std::vector<std::string>& m_strings;
    std::unordered_map<std::string, std::uint32_t> m_numbers;
};

}  // namespace

base::Result<SourceRanges> SourceRanges::read(std::span<const std::byte> pickle, std::string_view place) {
    PickleHooks hooks;
    hooks.call = [](const std::string& name, const Value& arguments) -> base::Result<std::optional<Value>> {
        if (name.starts_with("torch.jit._pickle.") && !arguments.items().empty())
            return std::optional(arguments.items().front());
        return std::optional<Value>();
    };
    hooks.persistent = [&](const Value&) -> base::Result<Value> {
        return base::unreadable("source ranges hold no tensors", std::string(place));
    };
    SONDE_ASSIGN(const Value root, readPickle(pickle, hooks, place));
    if (!isList(root, 0)) return base::unreadable("source ranges must be a list", std::string(place));
    const bool hasTable =
        isList(root, 3) && root.items()[0].kind() == ValueKind::String && root.items()[0].toString() == kTableFormat;
    const Value& records = hasTable ? root.items()[2] : root;
    if (!isList(records, 0) || (hasTable && !isList(root.items()[1], 0)))
        return base::unreadable("source ranges are damaged", std::string(place));
    static const ValueList kNoStrings;
    const ValueList& strings = hasTable ? root.items()[1].items() : kNoStrings;
    const auto textOf = [&](const Value& index) -> std::string {
        if (index.kind() == ValueKind::String) return index.toString();
        const std::int64_t at = index.kind() == ValueKind::Int ? index.toInt() : -1;
        const bool known = at >= 0 && static_cast<std::size_t>(at) < strings.size();
        return known && strings[static_cast<std::size_t>(at)].kind() == ValueKind::String
                   ? strings[static_cast<std::size_t>(at)].toString()
                   : "";
    };

    SourceRanges result;
    Table texts(result.m_texts);
    Table files(result.m_files);
    std::map<std::vector<std::int64_t>, std::uint32_t> joined;
    std::size_t bytes = 0;
    for (const Value& entry : records.items()) {
        if (!isList(entry, 2) || !isList(entry.items()[1], 3)) continue;
        const ValueList& range = entry.items()[1].items();  // (text, file, first line), start, end
        if (!isList(range[0], 3)) continue;
        const ValueList& source = range[0].items();
        Record record;
        record.offset = clamped(entry.items()[0]);
        record.file = files.add(textOf(source[1]));
        record.firstLine = static_cast<std::int32_t>(std::clamp<std::int64_t>(number(source[2]), 0, 100'000'000));
        record.start = clamped(range[1]);
        record.end = clamped(range[2]);
        if (isList(source[0], 0)) {
            std::vector<std::int64_t> parts;
            for (const Value& part : source[0].items()) parts.push_back(number(part));
            const auto [at, isNew] = joined.try_emplace(parts, 0);
            if (isNew) {
                std::string text;
                for (const Value& part : source[0].items()) {
                    text += textOf(part);
                    if (bytes + text.size() > kMaxTextBytes)
                        return base::unreadable("source ranges exceed the size limit", std::string(place));
                }
                bytes += text.size();
                at->second = texts.add(std::move(text));
            }
            record.text = at->second;
        } else {
            record.text = texts.add(textOf(source[0]));
        }
        result.m_records.push_back(record);
    }
    std::ranges::stable_sort(result.m_records, {}, &Record::offset);
    return result;
}

SourceRanges::Place SourceRanges::at(std::size_t offset) const {
    auto found = std::ranges::upper_bound(m_records, offset, {},
                                          [](const Record& record) { return std::size_t{record.offset}; });
    if (found == m_records.begin()) return {};
    const Record& record = *std::prev(found);
    Place place;
    place.file = m_files[record.file];
    if (place.file.empty()) return {};
    const std::string_view text = m_texts[record.text];
    const std::size_t start = std::min<std::size_t>(record.start, text.size());
    const std::size_t end = std::min<std::size_t>(std::max(record.end, record.start), text.size());
    // What is no source but a stack begins with the very place that the record names.
    const std::string head = std::string(place.file) + '(' + std::to_string(record.firstLine) + "): ";
    if (text.starts_with(head)) {
        place.line = record.firstLine;
        place.stack = text;
    } else {
        place.line = record.firstLine + static_cast<int>(std::ranges::count(text.substr(0, start), '\n'));
        place.text = text.substr(start, end - start);
    }
    return place;
}

void SourceMap::readOnce() const {
    std::call_once(m_once, [this] {
        if (m_reader) {
            auto ranges = m_reader();
            if (ranges) m_ranges.emplace(std::move(*ranges));
            else m_problem = ranges.error().text();
        }
        m_isRead.store(true, std::memory_order_release);
    });
}

SourceRanges::Place SourceMap::at(std::size_t offset) const {
    readOnce();
    return m_ranges ? m_ranges->at(offset) : SourceRanges::Place{};
}

std::string SourceMap::problem() const { return m_isRead.load(std::memory_order_acquire) ? m_problem : std::string(); }

}  // namespace sonde::io::script
