#include "core/io/torchscript/state_dict.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "core/io/torchscript/pickled_tensors.h"

namespace sonde::io::script {

using tensor::Value;
using tensor::ValueKind;

namespace {

constexpr std::string_view kData = "data.pkl";

/// The top folder of a zip archive of torch, with its slash; nothing if it is none.
std::optional<std::string> prefixOf(const ZipArchive& zip) {
    for (const ZipEntry& entry : zip.entries()) {
        if (entry.name == kData) return std::string();
        if (entry.name.ends_with("/data.pkl")) return entry.name.substr(0, entry.name.size() - kData.size());
    }
    return std::nullopt;
}

bool hasCode(const ZipArchive& zip, const std::string& prefix) {
    return std::ranges::any_of(zip.entries(),
                               [&](const ZipEntry& entry) { return entry.name.starts_with(prefix + "code/"); });
}

/// torch/serialization.py, _legacy_save: pickles of a magic number, the version, the machine, the value and the list of
/// the storages' keys; then for each key the number of elements (int64) and the elements. The value is read twice,
/// because what the storages are is in it, and where they are after it.
class LegacyFile {
  public:
    LegacyFile(std::shared_ptr<const base::MappedFile> file, std::string place)
        : m_file(std::move(file)), m_place(std::move(place)) {}

    base::Result<Value> read() {
        PickleHooks plain;
        plain.call = [](const std::string& name, const Value& arguments) -> base::Result<std::optional<Value>> {
            // Tensors cannot be made yet; they stay instances, which nothing observes.
            std::optional<Value> result;
            if (name == "collections.OrderedDict" && arguments.items().empty()) result = Value::dict({});
            return result;
        };
        plain.persistent = [this](const Value& value) -> base::Result<Value> {
            SONDE_ASSIGN(const StorageId id, storageId(value, m_place));
            m_storages.try_emplace(id.key, Place{id.dtype, {}});
            return Value();  // the id itself would bring what is in it: nested without end
        };
        m_position = kLegacyMagicBytes;
        SONDE_TRY(next(plain));  // version
        SONDE_TRY(next(plain));  // machine
        const std::size_t start = m_position;
        SONDE_TRY(next(plain));
        SONDE_ASSIGN(const Value keys, next(plain));
        SONDE_TRY(locate(keys));

        PickleHooks hooks;
        hooks.call = [this](const std::string& name, const Value& arguments) {
            return calledInTorchPickle(name, arguments, m_place);
        };
        hooks.persistent = [this](const Value& value) -> base::Result<Value> {
            SONDE_ASSIGN(const StorageId id, storageId(value, m_place));
            const auto found = m_storages.find(id.key);
            if (found == m_storages.end() || !found->second.storage) return damaged();
            return Value::object(found->second.storage);
        };
        m_position = start;
        return next(hooks);
    }

  private:
    struct Place {
        tensor::DType dtype;
        std::shared_ptr<StorageValue> storage;
    };

    base::Error damaged() const {
        return base::unreadable("the file is damaged: its tensors are not where they should be", m_place);
    }
    std::span<const std::byte> rest() const { return m_file->bytes().subspan(m_position); }

    base::Result<Value> next(const PickleHooks& hooks) {
        std::size_t size = 0;
        auto value = readPickle(rest(), hooks, m_place, &size);
        m_position += size;
        return value;
    }

    base::Result<void> locate(const Value& keys) {
        if (keys.kind() != ValueKind::List) return damaged();
        for (const Value& key : keys.items()) {
            const auto found = key.kind() == ValueKind::String ? m_storages.find(key.toString()) : m_storages.end();
            std::uint64_t count = 0;
            if (found == m_storages.end() || rest().size() < sizeof(count)) return damaged();
            std::memcpy(&count, rest().data(), sizeof(count));
            m_position += sizeof(count);
            const std::size_t itemSize = tensor::itemSize(found->second.dtype);
            if (count > rest().size() / itemSize) return damaged();
            const SharedBytes bytes{rest().first(count * itemSize), m_file};
            SONDE_ASSIGN(found->second.storage, storageOn(bytes, found->second.dtype));
            m_position += bytes.bytes.size();
        }
        return {};
    }

    std::shared_ptr<const base::MappedFile> m_file;
    std::string m_place;
    std::size_t m_position = 0;
    std::map<std::string, Place> m_storages;
};

const Value* entryOf(const Value& dict, std::string_view name) {
    if (dict.kind() != ValueKind::Dict) return nullptr;
    for (const auto& [key, value] : dict.dictItems()) {
        if (key.kind() == ValueKind::String && key.toString() == name) return &value;
    }
    return nullptr;
}

}  // namespace

bool looksLikeStateDict(std::span<const std::byte> head, const std::filesystem::path& path) {
    if (isLegacyTorchFile(head)) return true;
    if (head.size() < 4 || std::memcmp(head.data(), "PK\x03\x04", 4) != 0) return false;
    const auto zip = ZipArchive::open(path);
    if (!zip) return false;
    const std::optional<std::string> prefix = prefixOf(**zip);
    return prefix && !hasCode(**zip, *prefix);
}

base::Result<std::vector<std::pair<std::string, tensor::Tensor>>> readStateDict(const std::filesystem::path& path) {
    SONDE_ASSIGN(std::shared_ptr<const base::MappedFile> file, base::MappedFile::open(path));
    const std::string place = path.string();
    Value root;
    if (isLegacyTorchFile(file->bytes())) {
        SONDE_ASSIGN(root, LegacyFile(file, place).read());
    } else {
        SONDE_ASSIGN(const auto zip, ZipArchive::open(file));
        const std::optional<std::string> prefix = prefixOf(*zip);
        if (!prefix) return base::unreadable("this zip archive is not a PyTorch file: it has no data.pkl", place);
        SONDE_ASSIGN(root, readZippedPickle(*zip, *prefix, std::string(kData), "data/", place));
    }
    const Value* dict = &root;
    for (const char* name : {"state_dict", "model"}) {
        if (const Value* inner = entryOf(root, name); inner && inner->kind() == ValueKind::Dict) dict = inner;
    }
    std::vector<std::pair<std::string, tensor::Tensor>> result;
    if (dict->kind() == ValueKind::Dict) {
        for (const auto& [key, value] : dict->dictItems()) {
            if (key.kind() == ValueKind::String && value.isTensor())
                result.emplace_back(key.toString(), value.tensor());
        }
    }
    if (result.empty()) {
        return base::unreadable("the file has no named tensors", place,
                                "save the weights with `torch.save(model.state_dict(), \"weights.pt\")`");
    }
    return result;
}

}  // namespace sonde::io::script
