// Scripts may give an operator tensors of dtypes that PyTorch would refuse. Every call of tests/data/aten/cases.jsonl
// is made again with one tensor of another dtype: it gives something or an error, and reads nothing but its tensors.

#include <QFile>
#include <QtTest>

#include "core/ops/registry/registry.h"
#include "tests/support/forked.h"
#include "tests/support/json_values.h"

namespace tst_other_dtypes {

using namespace sonde;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;
using tensor::Value;

namespace {

constexpr DType kOthers[] = {DType::Float64, DType::Float32, DType::Float16, DType::Int64,
                             DType::Int32,   DType::UInt8,   DType::Bool,    DType::Complex64};

/// The same numbers where the memory ends: who reads beyond them is killed.
Tensor atTheEdge(const Tensor& given) {
    const Tensor x = given.contiguous().value();
    if (x.dtype() == DType::String || x.sizeBytes() == 0) return x;
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t bytes = (x.sizeBytes() + page - 1) / page * page;
    void* memory = mmap(nullptr, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return x;
    auto* begin = static_cast<std::byte*>(memory);
    mprotect(begin + bytes, page, PROT_NONE);
    std::byte* at = begin + bytes - x.sizeBytes();
    std::memcpy(at, x.bytes(), x.sizeBytes());
    const std::shared_ptr<const void> owner(memory,
                                            [all = bytes + page](const void* p) { munmap(const_cast<void*>(p), all); });
    return Tensor::onStorage(x.dtype(), x.shape(), tensor::Storage::view(at, x.sizeBytes(), owner));
}

/// Tensor number `which` of the arguments, counted in lists too, as another dtype; all at the edge of their memory.
Value changed(const Value& value, int& which, DType dtype) {
    if (value.isTensor())
        return Value(atTheEdge(which-- == 0 ? value.tensor().cast(dtype).value_or(value.tensor()) : value.tensor()));
    if (!value.isListLike()) return value;
    tensor::ValueList items;
    for (const Value& item : value.items()) items.push_back(changed(item, which, dtype));
    return Value::list(std::move(items));
}

int tensorsIn(const Value& value) {
    if (value.isTensor()) return 1;
    int count = 0;
    if (value.isListLike())
        for (const Value& item : value.items()) count += tensorsIn(item);
    return count;
}

struct Call {
    const ops::OpDef* op;
    std::vector<Value> inputs;
    int tensor;
    DType dtype;
};

}  // namespace

class TestOtherDTypes : public QObject {
    Q_OBJECT

  private slots:
    void nothingElseIsRead() {
        QFile file(QStringLiteral(SONDE_TEST_DATA "/aten/cases.jsonl"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        std::vector<Call> calls;
        for (const QByteArray& line : file.readAll().split('\n')) {
            const QJsonObject given = QJsonDocument::fromJson(line).object();
            const ops::OpDef* op = ops::Registry::all().find("aten", given["op"].toString().toStdString(), 0);
            if (!op || !op->kernel) continue;
            std::vector<Value> inputs;
            for (const QJsonValue& argument : given["in"].toArray()) inputs.push_back(test::valueIn(argument));
            const QJsonObject keywords = given["kw"].toObject();
            for (std::size_t i = inputs.size(); i < op->parameters.size(); ++i) {
                const QString key = QString::fromUtf8(op->parameters[i].name.data(),
                                                      static_cast<qsizetype>(op->parameters[i].name.size()));
                inputs.push_back(keywords.contains(key) ? test::valueIn(keywords[key])
                                                        : op->parameters[i].fallback.value_or(Value()));
            }
            int tensors = 0;
            for (const Value& input : inputs) tensors += tensorsIn(input);
            for (int t = 0; t < std::min(tensors, 5); ++t)
                for (const DType dtype : kOthers) calls.push_back({op, inputs, t, dtype});
        }
        QVERIFY(calls.size() > 5000);
        const auto results = test::runForked(static_cast<int>(calls.size()), {}, [&](int i) -> QByteArray {
            const Call& call = calls[static_cast<std::size_t>(i)];
            int which = call.tensor;
            std::vector<Value> inputs;
            for (const Value& input : call.inputs) inputs.push_back(changed(input, which, call.dtype));
            base::ThreadPool pool(1);
            ops::RunEnvironment environment;
            environment.pool = &pool;
            (void)ops::call(*call.op, inputs, {}, std::max<std::size_t>(call.op->outputs.size(), 1), environment);
            return {};
        });
        QStringList wrong;
        for (qsizetype i = 0; i < results.size(); ++i) {
            if (results[i].kind == test::CaseResult::Passed) continue;
            const Call& call = calls[static_cast<std::size_t>(i)];
            const QString text =
                QStringLiteral("%1: tensor %2 as %3: signal %4 %5")
                    .arg(QString::fromUtf8(call.op->name.data(), static_cast<qsizetype>(call.op->name.size())))
                    .arg(call.tensor)
                    .arg(QString::fromStdString(std::string(tensor::name(call.dtype))))
                    .arg(results[i].signal)
                    .arg(QString::fromUtf8(results[i].text));
            if (!wrong.contains(text)) wrong << text;
        }
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join(u'\n')));
    }
};

QTEST_GUILESS_MAIN(TestOtherDTypes)

}  // namespace tst_other_dtypes

#include "tst_other_dtypes.moc"
