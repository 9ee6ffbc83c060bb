// What a run takes down of stored weights: memory that nobody has touched yet, once, for the operation that is the
// first to read it.

#include <QtTest>

#include <sys/mman.h>

#include "core/base/resident_memory.h"
#include "core/exec/run_trace.h"

namespace tst_run_trace {

using namespace sonde;
using base::MemoryKind;
using exec::RunTrace;
using tensor::DType;
using tensor::Storage;
using tensor::Tensor;
using tensor::Value;

namespace {

class Records : public RunTrace::Reader {
  public:
    void begin(const RunTrace&) override { memory.clear(), marks.clear(); }
    void read(const RunTrace::Chunk& chunk) override {
        memory.insert(memory.end(), chunk.memory.begin(), chunk.memory.end());
        marks.insert(marks.end(), chunk.marks.begin(), chunk.marks.end());
        ++chunks;
    }
    std::vector<std::int64_t> weights() const {
        std::vector<std::int64_t> bytes;
        for (const auto& record : memory)
            if (record.kind == MemoryKind::Weights) bytes.push_back(record.bytes);
        return bytes;
    }

    std::vector<base::ActivityLog::Memory> memory;
    std::vector<RunTrace::Mark> marks;
    int chunks = 0;
};

/// Pages that nobody has touched, as those of a file that was mapped.
std::shared_ptr<Storage> untouched(std::size_t bytes, bool isWritable = false) {
    void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) qFatal("no memory");
    return Storage::view(static_cast<const std::byte*>(memory), bytes,
                         std::shared_ptr<const void>(
                             memory, [bytes](const void* pointer) { ::munmap(const_cast<void*>(pointer), bytes); }),
                         isWritable);
}

Value floatsOn(std::shared_ptr<Storage> storage) {
    const auto count = static_cast<std::int64_t>(storage->sizeBytes() / sizeof(float));
    return Value(Tensor::onStorage(DType::Float32, tensor::Shape{count}, std::move(storage)));
}

}  // namespace

class TestRunTrace : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void weightsCountOnceForTheFirstReader();
    void smallAndOwnMemoryDoesNotCount();
    void recordsGoToTheReaderInChunks();
};

void TestRunTrace::weightsCountOnceForTheFirstReader() {
    constexpr std::size_t kLarge = std::size_t{1} << 20, kOther = std::size_t{1} << 18;
    const auto large = untouched(kLarge), other = untouched(kOther);
    const bool isTold = base::absentBytes(large->data(), kLarge) == kLarge;  // by /proc/self/pagemap
    graph::InternalGraph graph;
    for (const char* name : {"a", "b"}) graph.addInput(graph.mainId(), name, {});
    Records records;
    RunTrace trace(records);
    trace.begin(graph, 0);
    const base::ActivityLog::Scope logged(trace.log());
    trace.enter(graph::ExprId(0));
    trace.reads(floatsOn(large));
    trace.leave();
    trace.enter(graph::ExprId(1));
    trace.reads(floatsOn(large));  // the same memory once more
    trace.reads(Value::list({floatsOn(other), floatsOn(large)}));
    trace.leave();
    trace.end();
    trace.readRest();
    std::vector<std::int64_t> expected;
    if (isTold) expected = {kLarge, kOther};
    QCOMPARE(records.weights(), expected);
    // The first while the first operation ran, the other one while the second did.
    QCOMPARE(records.marks.size(), std::size_t{4});
    if (!isTold) return;
    QVERIFY(records.memory[0].atNs >= records.marks[0].atNs && records.memory[0].atNs <= records.marks[1].atNs);
    QVERIFY(records.memory[1].atNs >= records.marks[2].atNs && records.memory[1].atNs <= records.marks[3].atNs);
}

void TestRunTrace::smallAndOwnMemoryDoesNotCount() {
    graph::InternalGraph graph;
    Records records;
    RunTrace trace(records);
    trace.begin(graph, 0);
    const base::ActivityLog::Scope logged(trace.log());
    trace.reads(floatsOn(untouched(std::size_t{1} << 12)));
    trace.reads(floatsOn(untouched(std::size_t{1} << 20, true)));  // the run's own
    const auto touched = untouched(std::size_t{1} << 20);
    for (std::size_t at = 0; at < touched->sizeBytes(); at += 4096)
        const_cast<std::byte*>(touched->data())[at] = std::byte{1};
    trace.reads(floatsOn(touched));  // in memory already
    trace.reads(Value::ofInt(3));
    trace.end();
    trace.readRest();
    QVERIFY(records.weights().empty());
}

void TestRunTrace::recordsGoToTheReaderInChunks() {
    graph::InternalGraph graph;
    graph.addInput(graph.mainId(), "a", {});
    Records records;
    RunTrace trace(records, 10);
    trace.begin(graph, 0);
    for (int i = 0; i < 50; ++i) {
        trace.enter(graph::ExprId(0));
        trace.leave();
    }
    QCOMPARE(records.chunks, 9);  // of 10 records each, before the next one begins
    trace.end();
    trace.readRest();
    QCOMPARE(records.marks.size(), std::size_t{100});
    QCOMPARE(trace.sums()[0].count, 50);
    QCOMPARE(trace.steps().size(), std::size_t{50});
    for (std::size_t i = 1; i < records.marks.size(); ++i) QVERIFY(records.marks[i].atNs >= records.marks[i - 1].atNs);
}

QTEST_APPLESS_MAIN(TestRunTrace)

}  // namespace tst_run_trace

#include "tst_run_trace.moc"
