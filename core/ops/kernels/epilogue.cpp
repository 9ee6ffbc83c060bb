#include "core/ops/kernels/epilogue.h"

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <numeric>
#include <string>

namespace sonde::ops::kernels {

namespace {

struct Tables {
    std::mutex mutex;
    std::map<std::string, MakeEpilogueOp, std::less<>> epilogue;
    std::map<std::string, bool, std::less<>> kernels;
};

Tables& tables() {
    static Tables all;
    return all;
}

std::string keyOf(std::string_view domain, std::string_view name) {
    return std::string(domain) + "::" + std::string(name);
}

/// Of the step that this thread runs. A kernel asks for it deep inside of its loops, behind the same calls that run
/// it without epilogue; the threads of the pool get it from the kernel.
thread_local Epilogue* current = nullptr;

class UnaryEpilogueOp : public EpilogueOp {
  public:
    UnaryEpilogueOp(Unary function, float a, float b, bool keepsFinite, bool keepsBad)
        : m_function(function), m_loop(floatKernels().unary[static_cast<std::size_t>(function)]), m_a(a), m_b(b),
          m_keepsFinite(keepsFinite), m_keepsBad(keepsBad) {}
    bool joinPass(EpiloguePass& pass) const override {
        if (pass.clips || (m_function != Unary::Relu && m_function != Unary::Clip)) return false;
        pass.clips = true;
        pass.low = m_function == Unary::Relu ? 0.0F : m_a;
        if (m_function == Unary::Clip) pass.high = m_b;
        return true;
    }
    void apply(const float* from, float* to, std::int64_t, std::int64_t count) const override {
        m_loop(from, to, static_cast<std::size_t>(count), m_a, m_b);
    }
    bool keepsFinite() const override { return m_keepsFinite; }
    bool keepsBad() const override { return m_keepsBad; }

  private:
    Unary m_function;
    UnaryLoop m_loop;
    float m_a, m_b;
    bool m_keepsFinite, m_keepsBad;
};

/// Whether NaN and both infinities have a result that is NaN or infinite.
bool keepsBad(Unary function) {
    return function == Unary::Neg || function == Unary::Abs || function == Unary::Square || function == Unary::Sqrt;
}

/// Whether every finite number has a finite result (with these parameters).
bool keepsFinite(Unary function, float a, float b) {
    switch (function) {
        case Unary::Relu:
        case Unary::Sigmoid:
        case Unary::Tanh:
        case Unary::Abs:
        case Unary::Neg: return true;
        case Unary::Clip:
            return a < std::numeric_limits<float>::infinity() && b > -std::numeric_limits<float>::infinity();
        default: return false;
    }
}

/// Calls use(position in the piece, number of the stretch, count) for the stretches of `length` elements that a piece
/// meets.
template <typename Use>
void forStretches(std::int64_t offset, std::int64_t count, std::int64_t length, const Use& use) {
    std::int64_t stretch = offset / length, inside = offset % length;
    for (std::int64_t done = 0; done < count; ++stretch, inside = 0) {
        const std::int64_t n = std::min(length - inside, count - done);
        use(done, stretch, inside, n);
        done += n;
    }
}

class BinaryEpilogueOp : public EpilogueOp {
  public:
    /// One: a single number; Same: as large as the result; Row: repeated along the last axis; Channel: along axis 1.
    enum class Kind : std::uint8_t { One, Same, Row, Channel };
    BinaryEpilogueOp(Binary operation, const float* other, bool otherFirst, Kind kind, std::int64_t length,
                     std::int64_t channels)
        : m_operation(operation), m_loop(floatKernels().binary[static_cast<std::size_t>(operation)]), m_other(other),
          m_otherFirst(otherFirst), m_kind(kind), m_length(length), m_channels(channels) {}

    /// Whatever the other side is: infinity plus, minus or times anything is infinite or NaN, and so is its quotient.
    bool keepsBad() const override {
        return m_operation == Binary::Add || m_operation == Binary::Sub || m_operation == Binary::Mul ||
               (m_operation == Binary::Div && !m_otherFirst);
    }

    bool joinPass(EpiloguePass& pass) const override {
        // Sums of two numbers are the same either way round.
        if (m_operation != Binary::Add || m_kind != Kind::Same || pass.other || pass.clips) return false;
        pass.other = m_other;
        return true;
    }

    void apply(const float* from, float* to, std::int64_t offset, std::int64_t count) const override {
        switch (m_kind) {
            case Kind::One: return run(from, m_other, true, to, count);
            case Kind::Same: return run(from, m_other + offset, false, to, count);
            case Kind::Row:
                return forStretches(offset, count, m_length,
                                    [&](std::int64_t at, std::int64_t, std::int64_t inside, std::int64_t n) {
                                        run(from + at, m_other + inside, false, to + at, n);
                                    });
            case Kind::Channel:
                return forStretches(offset, count, m_length,
                                    [&](std::int64_t at, std::int64_t plane, std::int64_t, std::int64_t n) {
                                        run(from + at, m_other + plane % m_channels, true, to + at, n);
                                    });
        }
    }

  private:
    void run(const float* from, const float* other, bool repeated, float* to, std::int64_t count) const {
        if (m_otherFirst) m_loop(other, repeated, from, false, to, static_cast<std::size_t>(count));
        else m_loop(from, false, other, repeated, to, static_cast<std::size_t>(count));
    }

    Binary m_operation;
    BinaryLoop m_loop;
    const float* m_other;
    bool m_otherFirst;
    Kind m_kind;
    std::int64_t m_length, m_channels;
};

}  // namespace

bool EpiloguePass::apply(const float* from, float* to, std::int64_t offset, std::int64_t count) const {
    bool isFinite = true;
    const auto run = [&](const AffinePass& pass, std::int64_t at, std::int64_t n) {
        if (!floatKernels().affinePass(from + at, pass, other ? other + offset + at : nullptr, to + at,
                                       static_cast<std::size_t>(n)))
            isFinite = false;
    };
    if (factor.empty()) {
        run({false, 1, 0, low, high}, 0, count);
        return isFinite;
    }
    forStretches(offset, count, plane, [&](std::int64_t at, std::int64_t stretch, std::int64_t, std::int64_t n) {
        const std::size_t c = static_cast<std::size_t>(stretch) % factor.size();
        run({true, factor[c], shift[c], low, high}, at, n);
    });
    return isFinite;
}

namespace {

class AffineEpilogueOp : public EpilogueOp {
  public:
    AffineEpilogueOp(std::span<const float> factor, std::span<const float> shift, std::int64_t size)
        : m_factor(factor), m_shift(shift), m_size(size) {}
    bool keepsBad() const override { return true; }
    bool joinPass(EpiloguePass& pass) const override {
        if (!pass.factor.empty() || pass.other || pass.clips) return false;
        pass.factor = m_factor, pass.shift = m_shift, pass.plane = m_size;
        return true;
    }
    void apply(const float* from, float* to, std::int64_t offset, std::int64_t count) const override {
        forStretches(offset, count, m_size, [&](std::int64_t at, std::int64_t plane, std::int64_t, std::int64_t n) {
            const std::size_t c = static_cast<std::size_t>(plane) % m_factor.size();
            floatKernels().scaleShift(from + at, m_factor[c], m_shift[c], to + at, static_cast<std::size_t>(n));
        });
    }

  private:
    std::span<const float> m_factor, m_shift;
    std::int64_t m_size;
};

std::int64_t elementsBehind(const Shape& shape, std::size_t axis) {
    std::int64_t count = 1;
    for (std::size_t i = axis + 1; i < shape.rank(); ++i) count *= shape[i];
    return count;
}

}  // namespace

void addEpilogueOp(std::string_view domain, std::string_view name, MakeEpilogueOp make) {
    const std::scoped_lock lock(tables().mutex);
    tables().epilogue[keyOf(domain, name)] = std::move(make);
}

void addEpilogueKernel(std::string_view domain, std::string_view name) {
    const std::scoped_lock lock(tables().mutex);
    tables().kernels[keyOf(domain, name)] = true;
}

const MakeEpilogueOp* epilogueOpOf(const OpDef& op) {
    const std::scoped_lock lock(tables().mutex);
    const auto found = tables().epilogue.find(keyOf(op.domain, op.name));
    return found == tables().epilogue.end() ? nullptr : &found->second;
}

bool runsEpilogue(const OpDef& op) {
    const std::scoped_lock lock(tables().mutex);
    return tables().kernels.contains(keyOf(op.domain, op.name));
}

std::unique_ptr<EpilogueOp> unaryEpilogue(Unary function, double a, double b) {
    const auto x = static_cast<float>(a), y = static_cast<float>(b);
    return std::make_unique<UnaryEpilogueOp>(function, x, y, keepsFinite(function, x, y), keepsBad(function));
}

std::unique_ptr<EpilogueOp> binaryEpilogue(const EpilogueCall& call, Binary operation) {
    using Kind = BinaryEpilogueOp::Kind;
    const std::size_t which = 1 - call.at;
    if (call.at > 1 || call.inputs.size() <= which || !call.inputs[which].isTensor()) return nullptr;
    const Tensor& other = call.inputs[which].tensor();
    const Shape& shape = call.shape;
    if (other.dtype() != DType::Float32 || !other.isContiguous() || other.rank() > shape.rank() || other.numel() == 0)
        return nullptr;
    // Dimensions of the other side, lined up at the right; 1 where it has none.
    const auto dimSize = [&](std::size_t axis) {
        const std::size_t lead = shape.rank() - other.rank();
        return axis < lead ? std::int64_t{1} : other.dim(axis - lead);
    };
    const auto onlyAxis = [&](std::size_t axis) {
        for (std::size_t i = 0; i < shape.rank(); ++i) {
            if (dimSize(i) != (i == axis ? shape[i] : 1)) return false;
        }
        return true;
    };
    bool same = true;
    for (std::size_t i = 0; i < shape.rank(); ++i) same = same && dimSize(i) == shape[i];
    const auto make = [&](Kind kind, std::int64_t length, std::int64_t channels) {
        return std::make_unique<BinaryEpilogueOp>(operation, other.data<float>(), which == 0, kind, length, channels);
    };
    if (same) return make(Kind::Same, 0, 0);
    if (call.sameShapeOnly == which) return nullptr;
    if (other.numel() == 1) return make(Kind::One, 0, 0);
    if (shape.rank() > 0 && onlyAxis(shape.rank() - 1)) return make(Kind::Row, shape[shape.rank() - 1], 0);
    if (shape.rank() > 2 && onlyAxis(1)) return make(Kind::Channel, elementsBehind(shape, 1), shape[1]);
    return nullptr;
}

std::unique_ptr<EpilogueOp> affineEpilogue(const EpilogueCall& call, std::span<const float> factor,
                                           std::span<const float> shift) {
    const Shape& shape = call.shape;
    if (call.at != 0 || shape.rank() < 2 || static_cast<std::int64_t>(factor.size()) != shape[1] ||
        shift.size() != factor.size())
        return nullptr;
    const std::int64_t size = elementsBehind(shape, 1);
    return size > 0 && !factor.empty() ? std::make_unique<AffineEpilogueOp>(factor, shift, size) : nullptr;
}

Epilogue::Epilogue(std::vector<Link> links, OutputAllocator& allocator, Census census, bool measures)
    : m_links(std::move(links)), m_allocator(allocator), m_census(census),
      m_counts(census == Census::Count ? m_links.size() + 1 : 0), m_measures(measures) {}

Epilogue::Scope::Scope(Epilogue* epilogue) { current = epilogue; }
Epilogue::Scope::~Scope() { current = nullptr; }

void Epilogue::dismiss() { current = nullptr; }

const Epilogue* Epilogue::of(const Tensor& y) {
    Epilogue* epilogue = current;
    current = nullptr;
    return epilogue && epilogue->bind(y) ? epilogue : nullptr;
}

bool Epilogue::bind(const Tensor& y) {
    if (y.dtype() != DType::Float32 || !y.isContiguous() || y.numel() == 0) return false;
    m_results.assign(1, y);
    m_kept.assign(1, y);
    for (std::size_t i = 0; i < m_links.size() && bindLink(i, y.shape()); ++i) {
    }
    if (m_census == Census::Detect) chooseLooks();
    if (m_census != Census::Count && !m_measures) joinPasses(), joinAll();
    return !m_bound.empty() || m_census != Census::None || m_measures;
}

/// A value need not be looked at if the next one is bad whenever it is, or if it is finite whenever the one before it
/// is and that one is looked at itself.
void Epilogue::chooseLooks() {
    const std::size_t count = m_bound.size();
    const auto looks = [&](std::size_t value) -> bool& {
        return value == 0 ? m_looksAtMain : m_bound[value - 1].looks;
    };
    for (std::size_t value = 0; value <= count; ++value)
        looks(value) = value == count || !m_bound[value].op->keepsBad();
    for (std::size_t value = 1; value <= count; ++value) {
        if (looks(value - 1) && m_bound[value - 1].op->keepsFinite()) looks(value) = false;
    }
}

/// What is between the operators of a pass is written over by the next one, and looked at only before the bounds.
void Epilogue::joinPasses() {
    for (std::size_t first = 0; first < m_bound.size(); ++first) {
        auto pass = std::make_shared<EpiloguePass>();
        if (!m_bound[first].op->joinPass(*pass) || pass->clips) continue;
        std::size_t last = first;
        for (std::size_t next = first + 1; next < m_bound.size() && m_bound[next].from == m_bound[next].to; ++next) {
            EpiloguePass longer = *pass;
            if (!m_bound[next].op->joinPass(longer) || (longer.clips && m_bound[next].looks)) break;
            *pass = longer;
            last = next;
        }
        if (last == first) continue;
        for (std::size_t i = first; i <= last; ++i) m_bound[first].passLooks |= m_bound[i].looks;
        m_bound[first].joined = last - first;
        m_bound[first].pass = std::move(pass);
        first = last;
    }
}

/// What a kernel has in registers was not in memory before: nothing of this chain can be added to it.
void Epilogue::joinAll() {
    if (m_bound.empty()) return;
    EpiloguePass whole;
    for (std::size_t i = 0; i < m_bound.size(); ++i) {
        if (i > 0 && m_bound[i].from != m_bound[i].to) return;
        if (!m_bound[i].op->joinPass(whole) || (whole.clips && m_bound[i].looks)) return;
    }
    const auto isOther = [&](const Bound& own) { return own.from == whole.other || own.to == whole.other; };
    if (std::ranges::none_of(m_bound, isOther)) m_whole = whole;
}

std::optional<TileEnd> Epilogue::inRegisters(std::int64_t offset, std::int64_t rows, std::int64_t length) const {
    if (!m_whole) return std::nullopt;
    TileEnd end{nullptr, nullptr, nullptr, nullptr, m_whole->low, m_whole->high, nullptr};
    if (!m_whole->factor.empty()) {
        const auto channels = static_cast<std::int64_t>(m_whole->factor.size());
        const std::int64_t first = offset / length % channels;
        if (m_whole->plane != length || offset % length != 0 || first + rows > channels) return std::nullopt;
        end.factor = m_whole->factor.data() + first, end.shift = m_whole->shift.data() + first;
    }
    if (m_whole->other) end.other = m_whole->other + offset;
    if (m_bound.front().from != m_bound.front().to) end.y = m_bound.front().to + offset;
    return end;
}

void Epilogue::looked(const Bad& bad) const {
    const bool isFinite = std::ranges::all_of(bad.lanes, [](float lane) { return lane == 0; });
    if (!isFinite && m_census == Census::Detect) m_detected.store(true, std::memory_order_relaxed);
}

bool Epilogue::bindLink(std::size_t index, const Shape& shape) {
    Link& link = m_links[index];
    const MakeEpilogueOp* make = epilogueOpOf(*link.op);
    std::size_t own = kNoInput;
    for (std::size_t i = 0; i < link.inputs.size(); ++i) {
        if (i == link.at || link.ownInputs[i] == kNoInput) continue;
        link.inputs[i] = Value(m_results[link.ownInputs[i]]);
        own = i;
    }
    if (!make) return false;
    std::unique_ptr<EpilogueOp> made =
        (*make)({*link.op, link.inputs, link.at, *link.attributes, link.prepared.get(), shape, own});
    if (!made) return false;
    Tensor before = m_results.back();
    Tensor result = before;
    const bool isFree = link.onlyKept && index > 0 && m_bound[index - 1].deferred > 0;
    if (isFree) {
        m_results.back() = m_kept.back();
    } else if (!link.overwrites) {
        base::Result<Tensor> memory = m_allocator.allocate(0, DType::Float32, shape);
        if (!memory) return false;  // the operator will say so by itself
        result = std::move(memory).value();
    }
    m_bound.push_back({std::move(made), before.data<float>(), result.mutableData<float>()});
    m_results.push_back(result);
    m_kept.push_back(std::move(result));
    if (link.isKept) keep(index);
    return true;
}

/// Keeps the result of a link without making it, so that its memory is free when all have read it.
void Epilogue::keep(std::size_t link) {
    constexpr std::int64_t kMinDeferred = 1 << 14;  // less is written quicker
    constexpr std::size_t kMaxInRow = 8;            // they are read one from the other
    const Tensor before = m_kept[link];
    const std::size_t inRow = link > 0 ? m_bound[link - 1].deferred : 0;
    if (m_links[link].overwrites || before.numel() < kMinDeferred || inRow >= kMaxInRow) return;
    const auto fill = [before, inputs = m_links[link].inputs, prepared = m_links[link].prepared,
                       op = m_bound[link].op](std::byte* target) {
        op->apply(before.data<float>(), reinterpret_cast<float*>(target), 0, before.numel());
    };
    auto storage = tensor::Storage::deferred(static_cast<std::size_t>(before.numel()) * sizeof(float), fill);
    if (!storage) return;
    m_kept[link + 1] = Tensor::onStorage(DType::Float32, before.shape(), std::move(storage).value());
    m_bound[link].deferred = inRow + 1;
}

void Epilogue::apply(std::int64_t offset, std::int64_t count) const {
    if (m_measures) {
        Piece piece(this);
        piece.apply(offset, count);
        return piece.end();
    }
    const bool counts = m_census == Census::Count;
    bool isFinite = !(counts || m_looksAtMain) || look(0, m_results.front().data<float>() + offset, count);
    for (std::size_t i = 0; i < m_bound.size(); ++i) {
        const Bound& bound = m_bound[i];
        if (bound.pass) {
            const Bound& last = m_bound[i + bound.joined];
            if (!bound.pass->apply(bound.from + offset, last.to + offset, offset, count) && bound.passLooks)
                m_detected.store(true, std::memory_order_relaxed);
            i += bound.joined;
            continue;
        }
        bound.op->apply(bound.from + offset, bound.to + offset, offset, count);
        if (counts ? !(isFinite && bound.op->keepsFinite()) : bound.looks)
            isFinite = look(i + 1, bound.to + offset, count);
    }
}

/// Each value is measured before the next link may write over it.
void Epilogue::measure(std::int64_t offset, std::int64_t count, std::vector<RunningMoments>& measured) const {
    const std::int64_t end = offset + count;
    for (std::int64_t n = std::min(count, kEpiloguePiece); offset < end; offset += n) {
        n = std::min(n, end - offset);
        measured.front().add(m_results.front().data<float>() + offset, n);
        for (std::size_t i = 0; i < m_bound.size(); ++i) {
            const Bound& bound = m_bound[i];
            bound.op->apply(bound.from + offset, bound.to + offset, offset, n);
            measured[i + 1].add(bound.to + offset, n);
        }
    }
}

void Epilogue::Piece::apply(std::int64_t offset, std::int64_t count) {
    if (!m_epilogue) return;
    if (!m_epilogue->m_measures) return m_epilogue->apply(offset, count);
    if (m_measured.empty()) {
        m_measured.resize(m_epilogue->m_results.size());
        m_offset = offset;
    }
    m_epilogue->measure(offset, count, m_measured);
}

void Epilogue::Piece::end() {
    if (m_measured.empty()) return;
    const std::scoped_lock lock(m_epilogue->m_mutex);
    m_epilogue->m_pieces.push_back(m_offset);
    for (const RunningMoments& one : m_measured) m_epilogue->m_measured.push_back(one.result());
    m_measured.clear();
}

/// Whether all is finite; counts or notes it if not.
bool Epilogue::look(std::size_t value, const float* data, std::int64_t count) const {
    if (floatKernels().allFinite(data, static_cast<std::size_t>(count))) return true;
    if (m_census == Census::Detect) {
        m_detected.store(true, std::memory_order_relaxed);
        return false;
    }
    const BadCount found = countBad(data, count);
    m_counts[value].nan.fetch_add(found.nan, std::memory_order_relaxed);
    m_counts[value].inf.fetch_add(found.inf, std::memory_order_relaxed);
    return false;
}

void Epilogue::restart() const {
    m_detected = false;
    for (AtomicCount& count : m_counts) count.nan = 0, count.inf = 0;
    m_pieces.clear(), m_measured.clear();
}

std::optional<BadCount> Epilogue::badIn(std::size_t value) const {
    if (m_census == Census::None || value >= m_results.size() || detected()) return std::nullopt;
    if (m_census == Census::Detect) return BadCount{};
    return BadCount{m_counts[value].nan.load(), m_counts[value].inf.load()};
}

/// Put together in the order of the elements, whichever thread was first.
std::optional<ElementMoments> Epilogue::momentsIn(std::size_t value) const {
    if (!m_measures || value >= m_results.size()) return std::nullopt;
    std::vector<std::size_t> order(m_pieces.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [this](std::size_t piece) { return m_pieces[piece]; });
    ElementMoments sum;
    for (const std::size_t piece : order) sum.add(m_measured[piece * m_results.size() + value]);
    return sum;
}

}  // namespace sonde::ops::kernels
