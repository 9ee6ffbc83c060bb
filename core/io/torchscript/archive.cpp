#include "core/io/torchscript/archive.h"

#include <algorithm>
#include <cstring>
#include <re2/re2.h>

#include "core/base/number_text.h"
#include "core/io/torchscript/pickled_tensors.h"

namespace sonde::io::script {

using tensor::Value;
using tensor::ValueKind;

namespace {

constexpr const char* kExportHint =
    "build the model in Python, load the weights with load_state_dict, and export it: "
    "`traced = torch.jit.trace(model.eval(), example_input)` and `torch.jit.save(traced, \"model.pt\")`";

// Records are small in the file and may be huge when they are inflated, so that is asked before.
constexpr std::uint64_t kMaxVersionBytes = 64;
constexpr std::uint64_t kMaxCodeBytes = std::uint64_t{256} << 20;

base::Error tooLarge(const ZipEntry& entry, std::uint64_t limit) {
    return base::unreadable(entry.name + " has " + std::to_string(entry.size) + " bytes; at most " +
                            std::to_string(limit) + " are read");
}

}  // namespace

base::Result<std::shared_ptr<Archive>> Archive::open(const std::filesystem::path& path) {
    SONDE_ASSIGN(auto file, base::MappedFile::open(path));
    if (isLegacyTorchFile(file->bytes().first(std::min<std::size_t>(file->sizeBytes(), 64)))) {
        return base::unreadable(
            "this is a file of torch.save from before version 1.6 (not a zip archive): it has values, but no program",
            path.string(), kExportHint);
    }
    std::shared_ptr<Archive> archive(new Archive);
    archive->m_place = path.string();
    SONDE_ASSIGN(archive->m_zip, ZipArchive::open(std::move(file)));
    SONDE_TRY(archive->readRecords());
    return archive;
}

base::Error Archive::notTorchScript() const {
    const ZipEntry* data = m_zip->find(m_prefix + "data.pkl");
    bool isModel = false;
    if (data) {
        // A pickled model names the classes of its modules; a state dict only containers and tensors.
        if (auto bytes = m_zip->read(*data)) {
            const std::string_view text(reinterpret_cast<const char*>(bytes->bytes.data()), bytes->bytes.size());
            isModel = text.find("_modules") != std::string_view::npos;
        }
    }
    if (isModel) {
        return base::unreadable(
            "this is a pickled model (torch.save of a module): its classes are Python code that is not in the file",
            m_place,
            "in Python, where the classes are: `traced = torch.jit.trace(model.eval(), example_input)` and "
            "`torch.jit.save(traced, \"model.pt\")`");
    }
    return base::unreadable("this is a state dict (torch.save of tensors): it has weights, but no program", m_place,
                            kExportHint);
}

base::Result<void> Archive::readRecords() {
    for (const ZipEntry& entry : m_zip->entries()) {
        if (entry.name.ends_with("/data.pkl")) m_prefix = entry.name.substr(0, entry.name.size() - 8);
    }
    if (m_prefix.empty())
        return base::unreadable("this zip archive is not a PyTorch file: it has no data.pkl", m_place);
    const bool hasCode = std::ranges::any_of(
        m_zip->entries(), [this](const ZipEntry& e) { return e.name.starts_with(m_prefix + "code/"); });
    if (!hasCode) return notTorchScript();

    for (const char* record : {"version", ".data/version"}) {
        const ZipEntry* entry = m_zip->find(m_prefix + record);
        if (!entry) continue;
        if (entry->size > kMaxVersionBytes) return tooLarge(*entry, kMaxVersionBytes);
        SONDE_ASSIGN(const SharedBytes bytes, m_zip->read(*entry));
        std::string_view text(reinterpret_cast<const char*>(bytes.bytes.data()), bytes.bytes.size());
        m_version = base::takeNumber<std::int64_t>(text).value_or(m_version);
    }
    if (m_version < 1 || m_version > 10) {
        return base::unreadable(
            "the archive has format version " + std::to_string(m_version) + "; versions 1 to 10 are known", m_place);
    }
    if (m_zip->find(m_prefix + "constants.pkl")) {
        SONDE_ASSIGN(const Value constants, readRecord("constants.pkl", "constants/"));
        if (constants.isListLike()) m_constants = constants.items();
    }
    SONDE_ASSIGN(m_root, readRecord("data.pkl", "data/"));
    const bool isObject =
        m_root.kind() == ValueKind::Object && dynamic_cast<const PickledObject*>(m_root.object().get());
    return isObject ? base::Result<void>() : base::unreadable("the archive's data is not a module", m_place);
}

base::Result<Value> Archive::readRecord(const std::string& record, const std::string& tensors) {
    return readZippedPickle(*m_zip, m_prefix, record, tensors, m_place);
}

base::Result<const SourceUnit*> Archive::unit(const std::string& module) {
    if (const auto known = m_units.find(module); known != m_units.end()) return known->second.get();
    std::string file = module;
    std::ranges::replace(file, '.', '/');
    const ZipEntry* entry = m_zip->find(m_prefix + "code/" + file + ".py");
    std::unique_ptr<SourceUnit>& place = m_units[module];
    if (!entry) return static_cast<const SourceUnit*>(nullptr);
    if (entry->size > kMaxCodeBytes) return tooLarge(*entry, kMaxCodeBytes);
    SONDE_ASSIGN(const SharedBytes bytes, m_zip->read(*entry));
    const std::string_view text(reinterpret_cast<const char*>(bytes.bytes.data()), bytes.bytes.size());
    SONDE_ASSIGN(SourceUnit parsed, parseSource(text, m_place + ":code/" + file + ".py"));
    place = std::make_unique<SourceUnit>(std::move(parsed));
    const std::string name = "code/" + file + ".py";
    // Where the code comes from is no part of the program: a model without it, or with a damaged record, opens all the
    // same.
    SourceMap::Reader reader;
    if (const ZipEntry* debug = m_zip->find(m_prefix + name + ".debug_pkl")) {
        reader = [zip = m_zip, debug, record = m_place + ":" + debug->name]() -> base::Result<SourceRanges> {
            SONDE_ASSIGN(const SharedBytes raw, zip->read(*debug));
            return SourceRanges::read(raw.bytes, record);
        };
    }
    place->source = std::make_shared<const SourceMap>(name, std::move(reader));
    for (FunctionDef& function : place->functions) function.unit = place.get();
    for (ClassDef& type : place->classes) {
        for (FunctionDef& method : type.methods) method.unit = place.get();
    }
    return static_cast<const SourceUnit*>(place.get());
}

namespace {

template <typename Def>
const Def* named(const std::vector<Def>& list, std::string_view name) {
    const auto found = std::ranges::find(list, name, &Def::name);
    return found == list.end() ? nullptr : &*found;
}

}  // namespace

base::Result<const ClassDef*> Archive::findClass(const std::string& name) {
    const std::size_t dot = name.rfind('.');
    if (dot == std::string::npos) return static_cast<const ClassDef*>(nullptr);
    SONDE_ASSIGN(const SourceUnit* found, unit(name.substr(0, dot)));
    return found ? named(found->classes, std::string_view(name).substr(dot + 1)) : nullptr;
}

base::Result<const FunctionDef*> Archive::findFunction(const std::string& name) {
    const std::size_t dot = name.rfind('.');
    if (dot == std::string::npos) return static_cast<const FunctionDef*>(nullptr);
    SONDE_ASSIGN(const SourceUnit* found, unit(name.substr(0, dot)));
    return found ? named(found->functions, std::string_view(name).substr(dot + 1)) : nullptr;
}

base::Diagnostics Archive::sourceFindings() const {
    base::Diagnostics findings;
    for (const auto& [module, unit] : m_units) {
        const std::string problem = unit ? unit->source->problem() : std::string();
        if (problem.empty()) continue;
        findings.push_back({base::Severity::Warning, "the model's own source cannot be shown: " + problem,
                            unit->source->file(), "nodes show their line in the archive's code instead"});
    }
    return findings;
}

namespace {

bool mayWrite(re2::StringPiece code) {
    // Operators in place, out=, methods of containers, attributes; `ops.own.f`, of which nobody knows.
    static const re2::RE2 write(
        R"((?m)[[:alnum:]]_\(|__i[a-z]+__\(|\bout=|torch\.(append|insert|extend|pop|popitem|setdefault|update|reverse|)"
        R"(sort|clear|remove|_set_item|Delete|set_)\(|^ +\w+(\.\w+)+ = )");
    static const re2::RE2 foreign(R"(\bops\.(\w+)\.)");
    if (re2::RE2::PartialMatch(code, write)) return true;
    for (std::string domain; re2::RE2::FindAndConsume(&code, foreign, &domain);) {
        if (domain != "aten" && domain != "prim" && domain != "torchvision") return true;
    }
    return false;
}

}  // namespace

bool Archive::mayWrite() const {
    return std::ranges::any_of(m_zip->entries(), [this](const ZipEntry& entry) {
        if (!entry.name.starts_with(m_prefix + "code/") || !entry.name.ends_with(".py")) return false;
        const auto bytes = m_zip->read(entry);
        if (!bytes) return true;
        return script::mayWrite(
            re2::StringPiece(reinterpret_cast<const char*>(bytes->bytes.data()), bytes->bytes.size()));
    });
}

bool looksLikeTorchFile(std::span<const std::byte> head, const std::filesystem::path& path) {
    if (isLegacyTorchFile(head)) return true;
    if (head.size() < 4 || std::memcmp(head.data(), "PK\x03\x04", 4) != 0) return false;
    const auto zip = ZipArchive::open(path);
    return zip &&
           std::ranges::any_of((*zip)->entries(), [](const ZipEntry& e) { return e.name.ends_with("/data.pkl"); });
}

}  // namespace sonde::io::script
