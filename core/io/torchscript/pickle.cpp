#include "core/io/torchscript/pickle.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <unordered_map>

namespace sonde::io {

using tensor::Value;
using tensor::ValueKind;
using tensor::ValueList;

namespace {

// Opcodes of Lib/pickletools.py.
// clang-format off
enum Op : unsigned char {
    Mark = '(', Stop = '.', None = 'N', Global = 'c', Reduce = 'R', Build = 'b', BinInt = 'J', BinInt1 = 'K', BinInt2 = 'M',
    BinFloat = 'G', BinUnicode = 'X', EmptyTuple = ')', TupleMark = 't', EmptyList = ']', EmptyDict = '}', Append = 'a',
    Appends = 'e', SetItem = 's', SetItems = 'u', BinGet = 'h', LongBinGet = 'j', BinPut = 'q', LongBinPut = 'r',
    BinPersId = 'Q', Pop = '0', BinString = 'T', ShortBinString = 'U',
    Proto = 0x80, NewObj = 0x81, Tuple1 = 0x85, Tuple2 = 0x86, Tuple3 = 0x87, NewTrue = 0x88, NewFalse = 0x89, Long1 = 0x8a,
    ShortBinUnicode = 0x8c, Memoize = 0x94, Frame = 0x95, StackGlobal = 0x93, BinBytes = 'B', ShortBinBytes = 'C'
};
// clang-format on

constexpr int kMaxPickleDepth = 400;

class Machine {
  public:
    Machine(std::span<const std::byte> bytes, const PickleHooks& hooks, std::string_view place)
        : m_bytes(bytes), m_hooks(hooks), m_place(place) {}

    base::Result<Value> run() {
        while (true) {
            m_opStart = m_position;
            SONDE_ASSIGN(const auto op, number<std::uint8_t>());
            if (op == Stop) {
                SONDE_ASSIGN(Item item, pop());
                return std::move(item.value);
            }
            SONDE_TRY(step(op));
        }
    }

    std::size_t position() const { return m_position; }  ///< after what was read

  private:
    base::Error wrong(const std::string& what) const {
        return base::unreadable("the pickle is damaged: " + what,
                                std::string(m_place) + ", byte " + std::to_string(m_opStart));
    }

    template <typename T>
    base::Result<T> number() {
        if (m_bytes.size() - m_position < sizeof(T)) return wrong("it ends too early");
        T value{};
        std::memcpy(&value, m_bytes.data() + m_position, sizeof(T));
        m_position += sizeof(T);
        return value;
    }

    base::Result<std::string> text(std::size_t length) {
        if (m_bytes.size() - m_position < length) return wrong("it ends too early");
        std::string result(reinterpret_cast<const char*>(m_bytes.data() + m_position), length);
        m_position += length;
        return result;
    }

    base::Result<std::string> line() {
        const char* start = reinterpret_cast<const char*>(m_bytes.data() + m_position);
        const void* end = std::memchr(start, '\n', m_bytes.size() - m_position);
        if (!end) return wrong("it ends too early");
        const auto length = static_cast<std::size_t>(static_cast<const char*>(end) - start);
        m_position += length + 1;
        return std::string(start, length);
    }

    /// A value on the stack or in the memo. Containers and instances have a number, by which the machine knows them:
    /// what has gone into another one never comes back, so no other handle of it needs to be told.
    struct Item {
        Value value;
        std::uint32_t number = 0;  ///< 0: none
    };
    struct Container {
        int depth = 1;       ///< how deep its contents nest
        bool isOpen = true;  ///< still being filled
    };

    base::Result<Item> pop() {
        const std::size_t floor = m_marks.empty() ? 0 : m_marks.back();
        if (m_stack.size() <= floor) return wrong("its stack is empty");
        Item item = std::move(m_stack.back());
        m_stack.pop_back();
        m_containers[item.number].isOpen = false;
        return item;
    }

    /// Notes that an item goes into a container. Depth is bounded because whoever reads or frees the value recurses.
    base::Result<void> contain(std::uint32_t container, const Item& item) {
        if (item.number == 0) return {};
        m_containers[item.number].isOpen = false;
        int& depth = m_containers[container].depth;
        depth = std::max(depth, m_containers[item.number].depth + 1);
        return depth <= kMaxPickleDepth ? base::Result<void>() : wrong("it nests too deeply");
    }

    std::uint32_t newContainer() {
        m_containers.emplace_back();
        return static_cast<std::uint32_t>(m_containers.size() - 1);
    }

    base::Result<void> push(Value value, std::uint32_t number = 0) {
        m_stack.push_back({std::move(value), number});
        return {};
    }
    base::Result<void> pushNew(Value value) { return push(std::move(value), newContainer()); }

    /// The index of the first item after the last mark, which is taken away.
    base::Result<std::size_t> popMark() {
        if (m_marks.empty()) return wrong("there is no mark");
        const std::size_t start = m_marks.back();
        m_marks.pop_back();
        return start;
    }

    /// The items from `start` on become a tuple.
    base::Result<void> tuple(std::size_t start) {
        const std::uint32_t number = newContainer();
        ValueList items;
        SONDE_TRY(moveItems(start, number, items));
        return push(Value::tuple(std::move(items)), number);
    }

    /// The index of the first of the last `count` items, all after the last mark.
    base::Result<std::size_t> last(std::size_t count) const {
        const std::size_t floor = m_marks.empty() ? 0 : m_marks.back();
        if (m_stack.size() < floor + count) return wrong("its stack is empty");
        return m_stack.size() - count;
    }

    /// Takes the items from `start` on off the stack and puts them after those of a list.
    base::Result<void> moveItems(std::size_t start, std::uint32_t number, ValueList& into) {
        // One by one a list must not be copied for each item; all at once nothing needs to be spare.
        if (into.empty()) into.reserve(m_stack.size() - start);
        for (std::size_t i = start; i < m_stack.size(); ++i) {
            SONDE_TRY(contain(number, m_stack[i]));
            into.push_back(std::move(m_stack[i].value));
        }
        m_stack.resize(start);
        return {};
    }

    base::Result<void> pushText(std::size_t length) {
        SONDE_ASSIGN(std::string value, text(length));
        return push(Value(std::move(value)));
    }

    base::Result<void> get(std::size_t key) {
        const Item* known = nullptr;
        if (key < m_memo.size()) {
            known = &m_memo[key];
        } else if (const auto far = m_farMemo.find(key); far != m_farMemo.end()) {
            known = &far->second;
        }
        if (!known || known->number == kNothing) return wrong("no memo entry " + std::to_string(key));
        if (known->number != 0 && m_containers[known->number].isOpen) return wrong("a value contains itself");
        m_stack.push_back(*known);
        return {};
    }

    base::Result<void> put(std::size_t key) {
        if (m_stack.empty()) return wrong("its stack is empty");
        ++m_remembered;
        // Keys count up; one that does not must not make the list as long as it says.
        if (key > m_memo.size() + kMemoGap) {
            m_farMemo[key] = m_stack.back();
            return {};
        }
        if (key >= m_memo.size()) m_memo.resize(key + 1, Item{{}, kNothing});
        m_memo[key] = m_stack.back();
        return {};
    }

    base::Result<void> step(unsigned char op) {
        switch (op) {
            case Proto: {
                SONDE_ASSIGN(const auto version, number<std::uint8_t>());
                return version <= 5 ? base::Result<void>() : wrong("unknown protocol " + std::to_string(version));
            }
            case Frame: SONDE_TRY(number<std::uint64_t>()); return {};
            case Mark: m_marks.push_back(m_stack.size()); return {};
            case None: return push({});
            case NewTrue: return push(Value::ofBool(true));
            case NewFalse: return push(Value::ofBool(false));
            case BinInt: {
                SONDE_ASSIGN(const auto v, number<std::int32_t>());
                return push(Value::ofInt(v));
            }
            case BinInt1: {
                SONDE_ASSIGN(const auto v, number<std::uint8_t>());
                return push(Value::ofInt(v));
            }
            case BinInt2: {
                SONDE_ASSIGN(const auto v, number<std::uint16_t>());
                return push(Value::ofInt(v));
            }
            case Long1: return longInteger();
            case BinFloat: {
                SONDE_ASSIGN(const auto v, number<std::uint64_t>());
                return push(Value::ofFloat(std::bit_cast<double>(__builtin_bswap64(v))));
            }
            case BinUnicode:
            case BinString:
            case BinBytes: {
                SONDE_ASSIGN(const auto n, number<std::uint32_t>());
                return pushText(n);
            }
            case ShortBinUnicode:
            case ShortBinString:
            case ShortBinBytes: {
                SONDE_ASSIGN(const auto n, number<std::uint8_t>());
                return pushText(n);
            }
            case EmptyTuple: return tuple(m_stack.size());
            case Tuple1:
            case Tuple2:
            case Tuple3: {
                SONDE_ASSIGN(const std::size_t start, last(op - Tuple1 + 1U));
                return tuple(start);
            }
            case TupleMark: {
                SONDE_ASSIGN(const std::size_t start, popMark());
                return tuple(start);
            }
            case EmptyList: return pushNew(Value::list({}));
            case EmptyDict: return pushNew(Value::dict({}));
            case Append: {
                SONDE_ASSIGN(const std::size_t start, last(1));
                return append(start);
            }
            case Appends: {
                SONDE_ASSIGN(const std::size_t start, popMark());
                return append(start);
            }
            case SetItem: {
                SONDE_ASSIGN(const std::size_t start, last(2));
                return setItems(start);
            }
            case SetItems: {
                SONDE_ASSIGN(const std::size_t start, popMark());
                return setItems(start);
            }
            case BinGet: {
                SONDE_ASSIGN(const auto key, number<std::uint8_t>());
                return get(key);
            }
            case LongBinGet: {
                SONDE_ASSIGN(const auto key, number<std::uint32_t>());
                return get(key);
            }
            case BinPut: {
                SONDE_ASSIGN(const auto key, number<std::uint8_t>());
                return put(key);
            }
            case LongBinPut: {
                SONDE_ASSIGN(const auto key, number<std::uint32_t>());
                return put(key);
            }
            case Memoize: return put(m_remembered);
            case Pop: SONDE_TRY(pop()); return {};
            case Global: return globalLine();
            case StackGlobal: return stackGlobal();
            case Reduce: return reduce();
            case NewObj: return newObject();
            case Build: return build();
            case BinPersId: return persistent();
            default: return wrong("opcode " + std::to_string(op) + " is not known here");
        }
    }

    /// Little-endian two's complement of up to eight bytes.
    base::Result<void> longInteger() {
        SONDE_ASSIGN(const auto length, number<std::uint8_t>());
        if (length > 8) return wrong("an integer of more than 64 bits");
        SONDE_ASSIGN(const std::string bytes, text(length));
        std::uint64_t bits = length > 0 && (static_cast<unsigned char>(bytes.back()) & 0x80U) ? ~std::uint64_t{0} : 0;
        for (std::size_t i = length; i-- > 0;) bits = bits << 8U | static_cast<unsigned char>(bytes[i]);
        return push(Value::ofInt(static_cast<std::int64_t>(bits)));
    }

    /// The items from `start` on go into the list before them.
    base::Result<void> append(std::size_t start) {
        if (start == 0 || m_stack[start - 1].value.kind() != ValueKind::List)
            return wrong("it appends to something that is not a list");
        const std::uint32_t number = m_stack[start - 1].number;
        if (!m_containers[number].isOpen) return wrong("it changes a list that is already in use");
        return moveItems(start, number, m_stack[start - 1].value.items());
    }

    /// Keys and values from `start` on go into the dict before them.
    base::Result<void> setItems(std::size_t start) {
        if (start == 0 || m_stack[start - 1].value.kind() != ValueKind::Dict)
            return wrong("it sets items of something that is not a dict");
        if ((m_stack.size() - start) % 2 != 0) return wrong("a key without a value");
        const std::uint32_t number = m_stack[start - 1].number;
        if (!m_containers[number].isOpen) return wrong("it changes a dict that is already in use");
        tensor::ValueDict& dict = m_stack[start - 1].value.dictItems();
        for (std::size_t i = start; i < m_stack.size(); i += 2) {
            SONDE_TRY(contain(number, m_stack[i]));
            SONDE_TRY(contain(number, m_stack[i + 1]));
            dict.emplace_back(std::move(m_stack[i].value), std::move(m_stack[i + 1].value));
        }
        m_stack.resize(start);
        return {};
    }

    base::Result<void> globalLine() {
        SONDE_ASSIGN(const std::string module, line());
        SONDE_ASSIGN(const std::string name, line());
        return push(Value::object(std::make_shared<PickledGlobal>(module + '.' + name)));
    }

    base::Result<void> persistent() {
        SONDE_ASSIGN(const Item id, pop());
        SONDE_ASSIGN(Value value, m_hooks.persistent(id.value));
        return push(std::move(value));
    }

    base::Result<std::string> globalName(const Value& value) const {
        if (value.kind() == ValueKind::Object) {
            if (const auto* global = dynamic_cast<const PickledGlobal*>(value.object().get()))
                return global->typeName();
        }
        return wrong("it calls something that is neither a class nor a function");
    }

    base::Result<void> stackGlobal() {
        SONDE_ASSIGN(const Item name, pop());
        SONDE_ASSIGN(const Item module, pop());
        if (name.value.kind() != ValueKind::String || module.value.kind() != ValueKind::String)
            return wrong("a global without a name");
        return push(
            Value::object(std::make_shared<PickledGlobal>(module.value.toString() + '.' + name.value.toString())));
    }

    base::Result<void> reduce() {
        SONDE_ASSIGN(const Item arguments, pop());
        SONDE_ASSIGN(const Item function, pop());
        SONDE_ASSIGN(const std::string name, globalName(function.value));
        if (arguments.value.kind() != ValueKind::Tuple) {
            // A member of an enumeration: torch writes the class and the member's value.
            const bool isPlain = arguments.value.isNumber() || arguments.value.kind() == ValueKind::String;
            if (isPlain && name.starts_with("__torch__.")) return newInstance(name, arguments);
            return wrong("a call without a tuple of arguments");
        }
        SONDE_ASSIGN(std::optional<Value> result, m_hooks.call(name, arguments.value));
        if (!result) return newInstance(name, arguments);
        const void* made = identity(*result);
        if (!made) return push(std::move(*result));
        const std::uint32_t number = newContainer();
        m_containers[number].depth = m_containers[arguments.number].depth;
        // One of the arguments has been in use already.
        const ValueList& given = arguments.value.items();
        m_containers[number].isOpen =
            std::ranges::none_of(given, [&](const Value& item) { return identity(item) == made; });
        return push(std::move(*result), number);
    }

    base::Result<void> newObject() {
        SONDE_ASSIGN(const Item arguments, pop());
        SONDE_ASSIGN(const Item type, pop());
        SONDE_ASSIGN(const std::string name, globalName(type.value));
        return newInstance(name, arguments);
    }

    base::Result<void> newInstance(const std::string& className, const Item& arguments) {
        const std::uint32_t number = newContainer();
        SONDE_TRY(contain(number, arguments));
        return push(Value::object(std::make_shared<PickledObject>(className, arguments.value)), number);
    }

    base::Result<void> build() {
        SONDE_ASSIGN(Item state, pop());
        if (m_stack.empty()) return wrong("its stack is empty");
        const Item& instance = m_stack.back();
        // An ordered dict with attributes keeps its items; they are all that is asked of it.
        if (instance.value.kind() != ValueKind::Object) return {};
        auto* object = dynamic_cast<PickledObject*>(instance.value.object().get());
        if (!object || !m_containers[instance.number].isOpen)
            return wrong("it sets the state of something that is not a new instance");
        SONDE_TRY(contain(instance.number, state));
        object->state = std::move(state.value);
        return {};
    }

    /// What tells one container or instance from another; null for plain values.
    static const void* identity(const Value& value) {
        switch (value.kind()) {
            case ValueKind::List:
            case ValueKind::Tuple: return &value.items();
            case ValueKind::Dict: return &value.dictItems();
            case ValueKind::Object: return value.object().get();
            default: return nullptr;
        }
    }

    static constexpr std::uint32_t kNothing = ~std::uint32_t{0};  ///< number of a memo's place where nothing is
    static constexpr std::size_t kMemoGap = 1024;

    std::span<const std::byte> m_bytes;
    const PickleHooks& m_hooks;
    std::string_view m_place;
    std::size_t m_position = 0;
    std::size_t m_opStart = 0;
    std::vector<Item> m_stack;
    std::vector<std::size_t> m_marks;
    std::vector<Item> m_memo;
    std::unordered_map<std::size_t, Item> m_farMemo;  ///< under keys far beyond those before them
    std::size_t m_remembered = 0;                     ///< how often something was put there
    std::vector<Container> m_containers{{1, false}};  ///< by number; the first stands for plain values
};

}  // namespace

base::Result<Value> readPickle(std::span<const std::byte> bytes, const PickleHooks& hooks, std::string_view place,
                               std::size_t* sizeBytes) {
    Machine machine(bytes, hooks, place);
    auto value = machine.run();
    if (sizeBytes) *sizeBytes = machine.position();
    return value;
}

}  // namespace sonde::io
