// x[index] = value as a value, for every kind of index. Expected values are worked by hand after Python's rules.

#include <QtTest>

#include "core/document/evaluator.h"
#include "core/tensor/ellipsis_value.h"
#include "core/tensor/slice_value.h"

namespace tst_prim_setitem {

using namespace sonde;
using tensor::Tensor;
using tensor::Value;

namespace {

using Numbers = std::vector<double>;

Value floats(tensor::Shape shape, std::vector<float> values) {
    return Value(Tensor::of<float>(std::move(shape), values));
}
Value slice(Value start, Value stop, Value step = {}) {
    return Value::object(std::make_shared<tensor::SliceValue>(std::move(start), std::move(stop), std::move(step)));
}
Value whole(std::int64_t number) { return Value::ofInt(number); }

/// 0 1 2 / 3 4 5
Value six() { return floats({2, 3}, {0, 1, 2, 3, 4, 5}); }

Numbers assigned(const Value& x, const Value& index, const Value& value) {
    const Value arguments[] = {x, index, value};
    const auto made = document::kernelEvaluator()->evaluate({"prim", "setitem", 0}, arguments, {}, 1);
    if (!made) {
        qWarning("%s", made.error().text().c_str());
        return {};
    }
    Numbers result;
    for (std::int64_t i = 0; i < made->front().tensor().numel(); ++i)
        result.push_back(made->front().tensor().toDouble(i));
    return result;
}

}  // namespace

class TestPrimSetItem : public QObject {
    Q_OBJECT

  private slots:
    void numbersAndSlices() {
        QCOMPARE(assigned(six(), whole(-1), whole(9)), (Numbers{0, 1, 2, 9, 9, 9}));
        QCOMPARE(assigned(six(), Value::tuple({slice({}, {}), slice(whole(1), {})}), whole(9)),
                 (Numbers{0, 9, 9, 3, 9, 9}));
        QCOMPARE(assigned(six(), Value::tuple({slice({}, {}), slice({}, {}, whole(2))}), floats({2, 2}, {6, 7, 8, 9})),
                 (Numbers{6, 1, 7, 8, 4, 9}));
        const Value dots = Value::object(std::make_shared<tensor::EllipsisValue>());
        QCOMPARE(assigned(six(), Value::tuple({dots, whole(0)}), floats({2}, {7, 8})), (Numbers{7, 1, 2, 8, 4, 5}));
    }
    void valuesAreBroadcastAndConverted() {
        QCOMPARE(assigned(six(), slice({}, {}), floats({3}, {7, 8, 9})), (Numbers{7, 8, 9, 7, 8, 9}));
        QCOMPARE(assigned(six(), whole(0), floats({1, 1, 3}, {7, 8, 9})), (Numbers{7, 8, 9, 3, 4, 5}));
        const Value counts(Tensor::of<std::int64_t>({2}, std::vector<std::int64_t>{1, 2}));
        QCOMPARE(assigned(counts, whole(0), Value::ofFloat(7.9)), (Numbers{7, 2}));
        QVERIFY(assigned(six(), whole(0), floats({2}, {1, 2})).empty());
    }
    void masksAndLists() {
        constexpr bool kBits[] = {true, false, false, false, true, false};
        const Value condition(Tensor::of<bool>({2, 3}, kBits));
        QCOMPARE(assigned(six(), condition, whole(9)), (Numbers{9, 1, 2, 3, 9, 5}));
        QCOMPARE(assigned(six(), condition, floats({2}, {7, 8})), (Numbers{7, 1, 2, 3, 8, 5}));
        QCOMPARE(assigned(six(), Value::tuple({slice({}, {}), Value::list({whole(0), whole(2)})}), whole(9)),
                 (Numbers{9, 1, 9, 9, 4, 9}));
    }
    void theArgumentStaysWhatItIs() {
        const Value x = six();
        assigned(x, whole(0), whole(9));
        QCOMPARE(x.tensor().toDouble(0), 0.0);
    }
};

QTEST_GUILESS_MAIN(TestPrimSetItem)

}  // namespace tst_prim_setitem

#include "tst_prim_setitem.moc"
