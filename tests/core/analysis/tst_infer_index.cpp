// Dimensions of x[i, a:b, ...] with open numbers, by Python's rules.

#include <QtTest>

#include <limits>

#include "core/analysis/infer_index.h"

namespace tst_infer_index {

using namespace sonde;
using analysis::IndexPart;
using tensor::Dim;
using tensor::Symbolic;
using Kind = IndexPart::Kind;

namespace {

std::optional<Symbolic> number(std::int64_t value) { return Symbolic::of(value); }
QString text(const std::optional<analysis::Dims>& dims) {
    return dims ? QString::fromStdString(tensor::TypeInfo::tensor(tensor::DType::Float32, *dims).text())
                : QStringLiteral("none");
}

}  // namespace

class TestInferIndex : public QObject {
    Q_OBJECT

  private slots:
    void ranges() {
        const analysis::Dims dims{Dim::named("N"), Dim::of(8)};
        const auto along = [&](std::optional<Symbolic> start, std::optional<Symbolic> stop,
                               std::optional<Symbolic> step = {}) {
            const IndexPart part{Kind::Range, start, stop, step};
            return text(analysis::indexedDims(dims, {part, part}));
        };
        constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
        QCOMPARE(along({}, {}), QStringLiteral("float32[N,8]"));
        QCOMPARE(along({}, number(kEnd)), QStringLiteral("float32[N,8]"));
        QCOMPARE(along(number(0), number(kEnd), number(1)), QStringLiteral("float32[N,8]"));
        QCOMPARE(along({}, {}, number(3)), QStringLiteral("float32[(N+2)//3,3]"));
    }

    void otherParts() {
        const analysis::Dims dims{Dim::of(2), Dim::of(3), Dim::of(4), Dim::of(5)};
        const IndexPart select{Kind::Select, {}, {}, {}}, rest{Kind::Ellipsis, {}, {}, {}},
            axis{Kind::NewAxis, {}, {}, {}};
        const IndexPart last{Kind::Range, number(-2), {}, {}};
        QCOMPARE(text(analysis::indexedDims(dims, {select, rest, last})), QStringLiteral("float32[3,4,2]"));
        QCOMPARE(text(analysis::indexedDims(dims, {axis, select})), QStringLiteral("float32[1,3,4,5]"));
        QCOMPARE(text(analysis::indexedDims(dims, {select, select, select, select, select})), QStringLiteral("none"));
    }
};

QTEST_GUILESS_MAIN(TestInferIndex)

}  // namespace tst_infer_index

#include "tst_infer_index.moc"
