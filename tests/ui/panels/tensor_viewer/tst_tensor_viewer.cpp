#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QFile>
#include <QLabel>
#include <QSignalSpy>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>
#include <QTreeWidget>

#include <cmath>
#include <complex>
#include <limits>
#include <numeric>

#include "core/io/npz/npy.h"
#include "ui/panels/row_delegate.h"
#include "ui/panels/tensor_viewer/tensor_viewer.h"
#include "ui/theme/theme.h"
#include "ui/widgets/heat_map_view.h"
#include "ui/widgets/histogram_plot.h"
#include "ui/widgets/image_grid_view.h"

namespace tst_tensor_viewer {

using namespace sonde;
using namespace sonde::panels;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;
using tensor::Value;

namespace {

/// 0, 1, 2, … in the shape given.
Tensor counting(const Shape& shape) {
    std::vector<float> values(size_t(shape.numel()));
    std::iota(values.begin(), values.end(), 0.0f);
    return Tensor::of<float>(shape, values);
}

/// The heat map, or picture, that is seen: views that were seen before are still there.
widgets::HeatMapView* seenMap(const TensorViewer& viewer) {
    for (auto* map : viewer.findChildren<widgets::HeatMapView*>())
        if (map->isVisible()) return map;
    return nullptr;
}

}  // namespace

class TestTensorViewer : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() {
        theme::Theme::instance().install(*qApp);
        theme::Theme::instance().setMode(theme::Theme::Mode::Light);
    }

    void everyDtypeAndShapeIsShownInEveryViewThatAcceptsIt_data() {
        QTest::addColumn<int>("dtype");
        for (int i = 1; i < tensor::kDTypeCount; ++i)
            QTest::newRow(std::string(tensor::name(static_cast<DType>(i))).c_str()) << i;
    }
    void everyDtypeAndShapeIsShownInEveryViewThatAcceptsIt() {
        QFETCH(int, dtype);
        TensorViewer viewer;
        viewer.resize(500, 500);
        viewer.show();
        for (const Shape& shape :
             {Shape{}, Shape{7}, Shape{0}, Shape{3, 4}, Shape{0, 4}, Shape{3, 8, 8}, Shape{8, 8, 3}, Shape{2, 5, 6, 7},
              Shape{1, 0, 3, 3}, Shape{2, 1, 2, 1, 2, 1, 2, 3}}) {
            const DType type = static_cast<DType>(dtype);
            Tensor tensor = type == DType::String
                                ? Tensor::ofStrings(shape, std::vector<std::string>(size_t(shape.numel()), "word"))
                                : Tensor::zeros(DType::Float32, shape).value().cast(type).value();
            viewer.setValue("x", tensor);
            int accepted = 0;
            for (const TensorViewInfo& view : tensorViews()) {
                if (!view.accepts(tensor)) continue;
                ++accepted;
                viewer.setCurrentView(view.id);
                QCOMPARE(viewer.currentView(), view.id);
                viewer.grab();
            }
            QVERIFY(accepted > 0);
            QVERIFY(viewer.statisticsText().startsWith(QString::fromStdString(tensor.typeText())));
        }
    }

    void statisticsAreThoseOfTheTensor() {
        TensorViewer viewer;
        const float nan = std::nanf(""), inf = std::numeric_limits<float>::infinity();
        viewer.setValue("x", Tensor::of<float>(Shape{2, 4}, {1, 2, 3, 4, 0, nan, inf, -inf}));
        QString text = viewer.statisticsText();
        // Mean of 0 … 4 is 2, the population deviation the root of 2.
        QCOMPARE(text, QStringLiteral("float32[2,4]   min 0   max 4   mean 2   std 1.41421   NaN 1   Inf 2   zeros 1"));
    }

    void largeTensorsAreCountedBesideTheWindow() {
        TensorViewer viewer;
        viewer.resize(400, 400);
        viewer.show();
        viewer.setValue("x", counting(Shape{1000, 1000}));
        QVERIFY(viewer.isBusy());
        QVERIFY(viewer.statisticsText().contains("computing statistics"));
        QTRY_VERIFY(viewer.statisticsText().contains("max 999999"));
        QCOMPARE(viewer.shown().range.high, 999999.0);
        viewer.setCurrentView("histogram");
        auto* plot = viewer.findChild<widgets::HistogramPlot*>();
        QTRY_COMPARE(plot->data().counts.size(), size_t(128));
        QCOMPARE(std::accumulate(plot->data().counts.begin(), plot->data().counts.end(), quint64{0}), quint64(1000000));
    }

    void valueUnderThePointerIsThatOfTheSlice() {
        TensorViewer viewer;
        viewer.resize(500, 600);
        viewer.show();
        viewer.setValue("x", counting(Shape{2, 3, 20, 30}));
        viewer.setCurrentView("heat_map");
        viewer.setSlice({2, 3, {1, 2, 0, 0}});
        QCoreApplication::processEvents();
        auto* map = seenMap(viewer);
        QVERIFY(map);
        QCOMPARE(map->rows(), 20);
        QCOMPARE(map->columns(), 30);
        QTest::mouseMove(map->viewport(), map->cellRect(7, 11).center().toPoint());
        QTRY_COMPARE(viewer.pointedText(), QStringLiteral("[1, 2, 7, 11] = 3221"));
        viewer.setSlice({3, 1, {1, 2, 5, 0}});
        QCOMPARE(map->rows(), 30);
        QCOMPARE(map->columns(), 3);
        QCOMPARE(map->valueAt(4, 2), double(1 * 1800 + 2 * 600 + 5 * 30 + 4));
    }

    void theLineViewRanksTheLargestValues() {
        TensorViewer viewer;
        viewer.resize(300, 500);
        viewer.show();
        std::vector<float> scores(100, 0.0f);
        scores[42] = 3, scores[7] = 5, scores[99] = 4;
        viewer.setValue("y", Tensor::of<float>(Shape{1, 100}, scores));
        QCOMPARE(viewer.currentView(), "line");
        QTreeWidget* ranks = nullptr;
        for (auto* tree : viewer.findChildren<QTreeWidget*>())
            if (tree->isVisible()) ranks = tree;
        QVERIFY(ranks);
        QTRY_COMPARE(ranks->topLevelItemCount(), 20);
        QCOMPARE(ranks->topLevelItem(0)->text(1), "7");
        QCOMPARE(ranks->topLevelItem(1)->text(1), "99");
        QCOMPARE(ranks->topLevelItem(2)->text(2), "3");
        ranks->setCurrentItem(ranks->topLevelItem(1));
        QCOMPARE(viewer.pointedText(), "[0, 99] = 4");
    }

    void badElementsAreFoundInWhateverSliceTheyLie() {
        Tensor x = counting(Shape{2, 8, 100, 100});
        x.mutableData<float>()[1 * 80000 + 5 * 10000 + 70 * 100 + 31] = std::nanf("");
        x.mutableData<float>()[1 * 80000 + 6 * 10000 + 2 * 100 + 3] = -std::numeric_limits<float>::infinity();
        TensorViewer viewer;
        viewer.resize(300, 400);
        viewer.show();
        viewer.setValue("x", x);
        QTRY_VERIFY(viewer.statisticsText().contains("NaN 1   Inf 1"));
        auto* statistics = viewer.findChild<QLabel*>("statistics");
        Q_EMIT statistics->linkActivated("bad");
        QCOMPARE(viewer.currentView(), "heat_map");
        QCOMPARE(viewer.shown().slice.index[0], 1);
        QCOMPARE(viewer.shown().slice.index[1], 5);
        QCOMPARE(seenMap(viewer)->cursor(), (std::pair<qint64, qint64>{70, 31}));
        viewer.goToNextBad();
        QCOMPARE(viewer.shown().slice.index[1], 6);
        QCOMPARE(seenMap(viewer)->cursor(), (std::pair<qint64, qint64>{2, 3}));
        viewer.setCurrentView("table");
        viewer.goToNextBad();
        QVERIFY(viewer.pointedText().toLower().startsWith("[1, 5, 70, 31] = nan"));
    }

    void aPictureHasTheColoursOfItsChannels() {
        Tensor rgb = Tensor::of<std::uint8_t>(Shape{2, 1, 3}, {200, 0, 0, 0, 128, 40});
        TensorViewer viewer;
        viewer.resize(400, 400);
        viewer.show();
        viewer.setValue("picture", rgb);
        viewer.setCurrentView("image");
        auto* map = seenMap(viewer);
        QVERIFY(map);
        QCOMPARE(viewer.shown().channels, ChannelLayout::Last);
        QCoreApplication::processEvents();
        QCOMPARE(map->rows(), 2);
        QCOMPARE(map->columns(), 1);
        const QImage image = map->viewport()->grab().toImage();
        QCOMPARE(image.pixel(map->cellRect(0, 0).center().toPoint()), qRgb(200, 0, 0));
        QCOMPARE(image.pixel(map->cellRect(1, 0).center().toPoint()), qRgb(0, 128, 40));
    }

    /// Channels are taken to be last in what has the shape of an image, not in feature maps of few columns.
    void onlyImagesHaveTheirChannelsLast() {
        for (const Shape& shape :
             {Shape{1, 224, 224, 3}, Shape{480, 640, 3}, Shape{28, 28, 1}, Shape{1, 48, 320, 3}, Shape{2, 100, 40, 4}})
            QVERIFY2(likelyLayout(Tensor::zeros(DType::Float32, shape).value()) == ChannelLayout::Last,
                     shape.text().c_str());
        for (const Shape& shape : {Shape{1, 64, 4, 4}, Shape{1, 512, 1, 1}, Shape{64, 3, 3}, Shape{1, 3, 224, 224},
                                   Shape{1, 128, 8, 4}, Shape{1, 16, 6, 6}, Shape{1, 2048, 7, 1}, Shape{1, 3, 4, 4}})
            QVERIFY2(likelyLayout(Tensor::zeros(DType::Float32, shape).value()) == ChannelLayout::First,
                     shape.text().c_str());
    }

    void openingAChannelShowsItAsHeatMap() {
        TensorViewer viewer;
        viewer.resize(400, 500);
        viewer.show();
        viewer.setValue("x", counting(Shape{1, 16, 6, 6}));
        viewer.setCurrentView("channels");
        auto* grid = viewer.findChild<widgets::ImageGridView*>();
        QCOMPARE(grid->pictureCount(), 16);
        Q_EMIT grid->pictureActivated(9);
        QCOMPARE(viewer.currentView(), "heat_map");
        QCOMPARE(viewer.shown().slice, (widgets::Slice{2, 3, {0, 9, 0, 0}}));
    }

    void aTensorIsLookedAtAsBefore() {
        TensorViewer viewer;
        viewer.resize(400, 500);
        viewer.setValue("a", counting(Shape{4, 8, 8}));
        viewer.setCurrentView("histogram");
        viewer.setSlice({1, 2, {3, 0, 0}});
        viewer.rangeControl()->setLogarithmic(true);
        viewer.setValue("b", counting(Shape{9}));
        QCOMPARE(viewer.currentView(), "table");
        QVERIFY(!viewer.shown().range.logarithmic);
        viewer.setValue("a", counting(Shape{4, 8, 8}));
        QCOMPARE(viewer.currentView(), "histogram");
        QCOMPARE(viewer.shown().slice.index[0], 3);
        QVERIFY(viewer.shown().range.logarithmic);
        // Another shape under the same name is no trouble.
        viewer.setValue("a", counting(Shape{2, 2}));
        QCOMPARE(viewer.shown().slice, (widgets::Slice{0, 1, {0, 0}}));
    }

    void theFirstViewSuitsTheShape_data() {
        QTest::addColumn<std::vector<std::int64_t>>("dims");
        QTest::addColumn<QString>("view");
        using Dims = std::vector<std::int64_t>;
        QTest::newRow("scalar") << Dims{} << "table";
        QTest::newRow("scores") << Dims{1, 1000} << "line";
        QTest::newRow("few numbers") << Dims{1, 10} << "table";
        QTest::newRow("weights of a linear layer") << Dims{10, 512} << "heat_map";
        QTest::newRow("photograph") << Dims{1, 3, 224, 224} << "image";
        QTest::newRow("photograph, channels last") << Dims{240, 320, 3} << "image";
        QTest::newRow("feature maps") << Dims{1, 64, 56, 56} << "channels";
        QTest::newRow("pooled features") << Dims{1, 512, 1, 1} << "line";
        QTest::newRow("sound") << Dims{1, 1, 288} << "line";
        QTest::newRow("a column") << Dims{1, 288, 1} << "table";
        QTest::newRow("two long rows") << Dims{2, 600} << "table";
        QTest::newRow("four long rows") << Dims{4, 300} << "table";
        QTest::newRow("a short column") << Dims{20, 1} << "table";
        QTest::newRow("filters of sound") << Dims{258, 1, 256} << "heat_map";
        QTest::newRow("attention") << Dims{1, 12, 77, 77} << "channels";
    }
    void theFirstViewSuitsTheShape() {
        QFETCH(std::vector<std::int64_t>, dims);
        TensorViewer viewer;
        viewer.setValue("x", counting(Shape(dims)));
        QTEST(viewer.currentView(), "view");
    }

    /// What was chosen for another tensor would draw one row of pixels of this one.
    void aFavouriteViewMakesNoStripe() {
        TensorViewer viewer;
        viewer.resize(400, 500);
        viewer.setValue("maps", counting(Shape{1, 16, 6, 6}));
        auto* const button = viewer.findChild<QToolButton*>("channels");
        button->click();
        viewer.setValue("more maps", counting(Shape{1, 8, 6, 6}));
        QCOMPARE(viewer.currentView(), "channels");
        viewer.setValue("sound", counting(Shape{1, 1, 288}));
        QCOMPARE(viewer.currentView(), "line");
        viewer.suggestView("channels");
        QCOMPARE(viewer.currentView(), "line");
        // Who asks for it has it.
        viewer.setCurrentView("heat_map");
        QCOMPARE(viewer.currentView(), "heat_map");
        viewer.setValue("maps again", counting(Shape{1, 16, 6, 6}));
        viewer.suggestView("histogram");
        QCOMPARE(viewer.currentView(), "histogram");
    }

    void aLockedRangeStaysForOtherTensors() {
        TensorViewer viewer;
        viewer.setValue("a", counting(Shape{10, 10}));
        QCOMPARE(viewer.shown().range.high, 99.0);
        viewer.rangeControl()->setLocked(true);
        viewer.setValue("b", counting(Shape{30, 30}));
        QCOMPARE(viewer.shown().range.high, 99.0);
        viewer.rangeControl()->setLocked(false);
        QCOMPARE(viewer.shown().range.high, 899.0);
    }

    void tableHoldsTheNumbersAndCopiesThem() {
        TensorViewer viewer;
        viewer.resize(400, 400);
        viewer.show();
        viewer.setValue("x", Tensor::of<float>(Shape{2, 2}, {1.5f, -2, std::nanf(""), 4}));
        viewer.setCurrentView("table");
        auto* table = viewer.findChild<QTableView*>();
        QCOMPARE(table->model()->index(1, 1).data().toString(), "4");
        QVERIFY(table->model()->index(1, 0).data(Qt::BackgroundRole).isValid());
        QVERIFY(!table->model()->index(0, 0).data(Qt::BackgroundRole).isValid());
        viewer.copy();
        QCOMPARE(QGuiApplication::clipboard()->text().toLower(), "1.5\t-2\nnan\t4\n");
        table->setCurrentIndex(table->model()->index(0, 1));
        QCOMPARE(viewer.pointedText(), "[0, 1] = -2");
        QTest::keyClick(table, Qt::Key_C, Qt::ControlModifier);
        QCOMPARE(QGuiApplication::clipboard()->text(), "-2");
    }

    void elementsAreReadInOtherWays() {
        TensorViewer viewer;
        viewer.resize(400, 400);
        viewer.show();
        auto* const box = viewer.findChild<QComboBox*>(QStringLiteral("reading"));
        viewer.setValue("x", counting(Shape{2, 2}));
        QVERIFY(!box->isVisibleTo(&viewer));
        // 130 of a scale of 0.5 and a zero point of 128 stands for 1.
        viewer.setQuantization(analysis::Quantization{Tensor::scalar<float>(0.5F), Tensor::scalar<std::uint8_t>(128)});
        const Tensor q = Tensor::of<std::uint8_t>(Shape{1, 2}, {0, 130});
        viewer.setValue("q", q);
        QVERIFY(box->isVisibleTo(&viewer));
        QVERIFY(viewer.reading().isEmpty());
        QCOMPARE(viewer.shown().tensor.toDouble(1), 130.0);
        QVERIFY2(viewer.statisticsText().contains("scale 0.5, zero point 128"), qPrintable(viewer.statisticsText()));
        viewer.setReading("real-values");
        QCOMPARE(viewer.shown().tensor.toDouble(1), 1.0);
        QVERIFY(viewer.statisticsText().startsWith("uint8[1,2]   as real values: float32[1,2]"));
        QVERIFY(viewer.statisticsText().contains("min -64"));
        viewer.setValue("other", counting(Shape{2, 2}));
        QVERIFY(viewer.reading().isEmpty());
        viewer.setValue("q", q);
        QCOMPARE(viewer.reading(), QString("real-values"));
        // Complex numbers, on a worker: the magnitude of 3 - 4i.
        viewer.setQuantization({});
        viewer.setValue("z", Tensor::of<std::complex<float>>(Shape{1}, {{3, -4}}).expanded(Shape{300, 200}).value());
        QCOMPARE(viewer.reading(), QString("magnitude"));
        QVERIFY(viewer.isBusy());
        QTRY_VERIFY(viewer.shown().tensor.defined() && !viewer.isBusy());
        QCOMPARE(viewer.shown().tensor.toDouble(59'999), 5.0);
        viewer.setReading("imaginary");
        QTRY_VERIFY(viewer.shown().tensor.defined() && !viewer.isBusy());
        QCOMPARE(viewer.shown().tensor.toDouble(7), -4.0);
        // Too large to be made: it says so, and what is stored can still be seen.
        viewer.setValue("huge",
                        Tensor::of<std::complex<float>>(Shape{1}, {{3, -4}}).expanded(Shape{1 << 15, 1 << 15}).value());
        QTRY_VERIFY(!viewer.isBusy());
        QVERIFY(!viewer.shown().tensor.defined());
        viewer.setReading({});
        QVERIFY(viewer.shown().tensor.defined());
        viewer.clear();
    }

    void longIntegersAreWhole() {
        TensorViewer viewer;
        viewer.resize(400, 400);
        viewer.show();
        using Limits = std::numeric_limits<std::int64_t>;
        viewer.setValue("x", Tensor::of<std::int64_t>(Shape{2, 2}, {Limits::min(), 7, -1, Limits::max()}));
        viewer.setCurrentView("table");
        const auto* table = viewer.findChild<QTableView*>();
        const QModelIndex least = table->model()->index(0, 0);
        QCOMPARE(least.data().toString(), "-9223372036854775808");
        QCOMPARE(least.data(Qt::ToolTipRole).toString(), "-9223372036854775808");
        QVERIFY(table->sizeHintForIndex(least).width() <= table->columnWidth(0));
        viewer.setValue("z", Tensor::of<std::complex<float>>(Shape{1, 1}, {{-1.23457e-30F, -1.23457e-30F}}));
        const QModelIndex complex = table->model()->index(0, 0);
        QVERIFY2(table->sizeHintForIndex(complex).width() <= table->columnWidth(0),
                 qPrintable(complex.data().toString()));
        // Text may be of any length: it is shortened with an ellipsis, and whole in the tool tip.
        viewer.setValue("s", Tensor::ofStrings(Shape{1, 1}, {std::string(300, 'm')}));
        QVERIFY(qobject_cast<RowDelegate*>(table->itemDelegate()));
        QCOMPARE(table->model()->index(0, 0).data(Qt::ToolTipRole).toString().size(), 302);
    }

    void savedFilesReadBackTheSame() {
        QTemporaryDir directory;
        TensorViewer viewer;
        const Tensor x = counting(Shape{2, 3, 4});
        viewer.setValue("x", x.transposed(0, 2));
        const QString path = directory.filePath(QStringLiteral("größe.npy"));
        QSignalSpy saved(&viewer, &TensorViewer::saved);
        QVERIFY(viewer.saveTo(path));
        QVERIFY(saved.isEmpty());  // not before the event loop has turned: a worker writes
        QVERIFY(saved.wait());
        const auto read = io::readNpyFile(std::filesystem::path(path.toStdU16String()));
        QVERIFY(read.has_value());
        QVERIFY(tensor::identical(*read, x.transposed(0, 2)));
        QSignalSpy failed(&viewer, &TensorViewer::saveFailed);
        QVERIFY(viewer.saveTo("/no/such/folder/x.npy"));
        QVERIFY(failed.wait());
        QCOMPARE(saved.size(), 1);
    }

    void containersAreATreeWhoseTensorsCanBeOpened() {
        TensorViewer viewer;
        viewer.resize(400, 500);
        viewer.show();
        const Value value = Value::tuple({Value::ofInt(3), Value::list({counting(Shape{2, 2}), counting(Shape{5})}),
                                          Value::dict({{Value(std::string("mask")), Value(counting(Shape{3}))}})});
        viewer.setValue("y", value);
        auto* tree = viewer.findChild<QTreeWidget*>();
        QVERIFY(!tree->isHidden());
        QCOMPARE(viewer.tensor().shape(), (Shape{2, 2}));
        QTreeWidgetItem* root = tree->topLevelItem(0);
        QCOMPARE(root->childCount(), 3);
        QCOMPARE(root->child(0)->text(2), "3");
        tree->setCurrentItem(root->child(1)->child(1));
        QCOMPARE(viewer.tensor().shape(), (Shape{5}));
        viewer.setValue("y", value);
        QCOMPARE(viewer.tensor().shape(), (Shape{5}));
        tree->setCurrentItem(tree->topLevelItem(0)->child(0));
        QVERIFY(!viewer.tensor().defined());
        viewer.setValue("x", counting(Shape{2}));
        QVERIFY(tree->isHidden());
    }

    void oddValuesAreNoTrouble() {
        TensorViewer viewer;
        viewer.resize(300, 300);
        viewer.show();
        Value loop = Value::list({});
        loop.items().push_back(loop);
        const Value values[] = {Value(),
                                Value::ofInt(1),
                                Value::ofFloat(std::nan("")),
                                Value::ofBool(true),
                                Value(std::string(100000, 'x')),
                                Value::list({}),
                                Value::dict({}),
                                Value::optional({}),
                                loop,
                                Value::list(tensor::ValueList(5000, Value::ofInt(7)))};
        for (const Value& value : values) {
            viewer.setValue("x", value);
            viewer.grab();
            viewer.copy();
        }
        loop.items().clear();
        auto* tree = viewer.findChild<QTreeWidget*>();
        QCOMPARE(tree->topLevelItem(0)->childCount(), 1001);
        QCOMPARE(tree->topLevelItem(0)->child(1000)->text(0), "+4000 more");
        viewer.clear();
        viewer.copy();
        viewer.save();
        QVERIFY(!viewer.saveTo("never.npy"));
    }

    void histogramIsThatOfTheTensor() {
        TensorViewer viewer;
        viewer.resize(500, 500);
        viewer.show();
        const Tensor numbers = counting({8, 8}),
                     nothing = Tensor::of<float>({40}, std::vector<float>(40, std::numeric_limits<float>::quiet_NaN()));
        viewer.setValue("numbers", numbers);
        viewer.setCurrentView(histogramView().id);
        auto* plot = viewer.findChild<widgets::HistogramPlot*>();
        QVERIFY(plot);
        const auto counted = [plot] {
            return std::accumulate(plot->data().counts.begin(), plot->data().counts.end(), quint64{0});
        };
        QTRY_COMPARE(counted(), quint64{64});
        viewer.setValue("nothing", nothing);
        viewer.setCurrentView(histogramView().id);
        QCOMPARE(counted(), quint64{0});
        viewer.setValue("numbers", numbers);
        QCOMPARE(viewer.currentView(), histogramView().id);
        QTRY_COMPARE(counted(), quint64{64});
        // Bins that come late are of a tensor that is shown no more.
        viewer.setValue("more", counting({600, 600}));
        viewer.setCurrentView(histogramView().id);
        QTRY_VERIFY(!viewer.isBusy());
        viewer.setValue("nothing", nothing);
        context::Job::waitForAll();  // then they have been posted
        QCoreApplication::processEvents();
        QCOMPARE(counted(), quint64{0});
    }

    void pairsOfPairsAreCut() {
        Value value = counting({2});
        for (int i = 0; i < 30; ++i) value = Value::tuple({value, value});
        TensorViewer viewer;
        viewer.show();
        viewer.setValue("nest", value);
        QCOMPARE(viewer.tensor().numel(), std::int64_t{2});
        const auto* tree = viewer.findChild<QTreeWidget*>();
        int rows = 0;
        for (QTreeWidgetItemIterator it(const_cast<QTreeWidget*>(tree)); *it; ++it) ++rows;
        QCOMPARE(rows, 20'001);
    }

    void muchIsCopiedByItsCorners() {
        TensorViewer viewer;
        viewer.show();
        viewer.setValue("large", counting({3000, 5000}));
        viewer.setCurrentView(tableView().id);
        viewer.findChild<QTableView*>()->selectAll();
        viewer.copy();
        const QString text = QApplication::clipboard()->text();
        QVERIFY(text.startsWith(QLatin1String("0\t1\t2\t")));
        QCOMPARE(text.count(QLatin1Char('\n')), 201);
    }

    void longAxesAreCutInTheTableAndSaidSo() {
        TensorViewer viewer;
        viewer.resize(300, 300);
        viewer.show();
        viewer.setValue("x", Tensor::zeros(DType::UInt8, Shape{2, 50000}).value());
        viewer.setCurrentView("table");
        QCOMPARE(viewer.findChild<QTableView*>()->model()->columnCount(), 20000);
        bool said = false;
        for (QLabel* label : viewer.findChildren<QLabel*>())
            said = said || (!label->isHidden() && label->text().contains("50000 columns"));
        QVERIFY(said);
    }

    void everyViewCanBeReachedByKeys() {
        TensorViewer viewer;
        for (const TensorViewInfo& view : tensorViews()) {
            auto* button = viewer.findChild<QToolButton*>(view.id);
            QVERIFY(button && (button->focusPolicy() & Qt::TabFocus) && !button->accessibleName().isEmpty());
            QVERIFY(!view.description.isEmpty());
        }
    }
};

QTEST_MAIN(TestTensorViewer)

}  // namespace tst_tensor_viewer

#include "tst_tensor_viewer.moc"
