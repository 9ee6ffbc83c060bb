// Views that are offered for few tensors: attention, tokens, filters, sparsity, principal components.

#include <QCheckBox>
#include <QComboBox>
#include <QFile>
#include <QScrollArea>
#include <QScrollBar>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>
#include <QTreeWidget>

#include <cmath>

#include "core/session/tokens/token_names.h"
#include "ui/panels/sound_view.h"
#include "ui/panels/tensor_viewer/tensor_viewer.h"
#include "ui/theme/theme.h"
#include "ui/widgets/image_grid_view.h"
#include "ui/widgets/labelled_map.h"
#include "ui/widgets/scatter_plot.h"

namespace tst_special_views {

using namespace sonde;
using namespace sonde::panels;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

namespace {

/// Two heads of three tokens.
Tensor attention() {
    return Tensor::of<float>(Shape{1, 2, 3, 3}, {1, 0, 0, 0.5F, 0.5F, 0, 0.25F, 0.25F, 0.5F,  //
                                                 0.5F, 0, 0.5F, 0, 1, 0, 0, 0.75F, 0.25F});
}

/// The tokens "c", "a" and "b" of a text.
std::shared_ptr<const session::TokenNames> letters() {
    QTemporaryDir folder;
    QFile file(folder.filePath(QStringLiteral("letters.txt")));
    if (!file.open(QIODevice::WriteOnly)) return nullptr;
    file.write("a\nb\nc\nd\ne\nf\ng\nh\n");
    file.close();
    return std::make_shared<const session::TokenNames>(
        session::findTokenNames({.item = {}, .vocabulary = file.fileName().toStdString(), .ids = {2, 0, 1}}));
}

template <typename Widget>
Widget* seen(const TensorViewer& viewer) {
    for (auto* widget : viewer.findChildren<Widget*>())
        if (widget->isVisible()) return widget;
    return nullptr;
}

bool isOffered(const TensorViewer& viewer, const char* id) {
    const auto* button = viewer.findChild<QToolButton*>(QLatin1String(id));
    return button && button->isVisible() && button->isEnabled();
}

}  // namespace

class TestSpecialViews : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() {
        theme::Theme::instance().install(*qApp);
        theme::Theme::instance().setMode(theme::Theme::Mode::Light);
    }

    void viewsAreOfferedForWhatTheySuit() {
        TensorViewer viewer;
        viewer.resize(500, 700);
        viewer.show();
        viewer.setValue("a", attention());
        for (const char* id : {"attention", "sparsity", "pca"}) QVERIFY2(isOffered(viewer, id), id);
        for (const char* id : {"tokens", "filters"}) QVERIFY2(!isOffered(viewer, id), id);
        viewer.setValue("w", Tensor::zeros(DType::Float32, Shape{4, 3, 5, 5}).value());
        QVERIFY(isOffered(viewer, "filters"));
        QVERIFY(!isOffered(viewer, "attention"));
        viewer.setValue("y", Tensor::zeros(DType::Float32, Shape{2, 1000}).value());
        QVERIFY(isOffered(viewer, "tokens"));
        QVERIFY(isOffered(viewer, "histogram"));
        viewer.setValue("s", Tensor::ofStrings(Shape{2}, {"a", "b"}));
        for (const char* id : {"attention", "tokens", "filters", "sparsity", "pca"})
            QVERIFY2(!isOffered(viewer, id), id);
    }

    /// A value of the same name in another model, or of another shape: what was chosen before says nothing of it.
    void aRowIsNoStripeWhateverItsNameWas() {
        TensorViewer viewer;
        viewer.resize(500, 700);
        viewer.show();
        const auto row = Tensor::zeros(DType::Float32, Shape{1, 1000}).value();
        viewer.setValue("y", Tensor::zeros(DType::Float32, Shape{1, 3, 32, 32}).value());
        viewer.setCurrentView("image");
        viewer.setValue("y", row);
        QCOMPARE(viewer.currentView(), QStringLiteral("line"));
        viewer.setCurrentView("histogram");
        viewer.setValue("y", row);
        QCOMPARE(viewer.currentView(), QStringLiteral("histogram"));
        viewer.forgetLooks();
        viewer.setValue("z", Tensor::zeros(DType::Float32, Shape{8, 8}).value());
        viewer.setCurrentView("heat_map");
        viewer.setValue("y", row);
        QCOMPARE(viewer.currentView(), QStringLiteral("line"));
    }

    /// In a low panel the controls above scroll away, or a bar tells that the view goes on: nothing is cut off unseen.
    void viewsAreWholeInALowPanel_data() {
        QTest::addColumn<int>("height");
        QTest::newRow("1280x720") << 320;
        QTest::newRow("lower than a view") << 160;
    }
    void viewsAreWholeInALowPanel() {
        QFETCH(const int, height);
        TensorViewer viewer;
        viewer.resize(320, height);
        viewer.show();
        for (const char* id : {"pca", "attention", "sparsity", "histogram", "heat_map"}) {
            viewer.setValue("a", attention());
            viewer.setCurrentView(QLatin1String(id));
            QTRY_COMPARE(viewer.currentView(), QLatin1String(id));
            auto* view = seen<TensorView>(viewer);
            QVERIFY2(view, id);
            const QScrollArea* area = nullptr;
            for (QWidget* at = view; !area; at = at->parentWidget())
                area = qobject_cast<QScrollArea*>(at->parentWidget()->parentWidget());
            QTRY_VERIFY2(view->height() >= view->minimumSizeHint().height(), id);
            const auto part = [&] { return QRect(view->mapTo(area->viewport(), QPoint()), view->size()); };
            const int room = area->viewport()->height();
            if (view->height() <= room) QTRY_VERIFY2(part().top() >= 0 && part().bottom() < room, id);
            else QVERIFY2(area->verticalScrollBar()->isVisible(), id);
        }
    }

    void attentionHasTokensOnBothAxesAndLocksACell() {
        TensorViewer viewer;
        viewer.resize(500, 700);
        viewer.show();
        viewer.setValue("a", attention());
        QCOMPARE(viewer.currentView(), QStringLiteral("attention"));
        viewer.setTokens(letters());
        auto* map = seen<widgets::LabelledMap>(viewer);
        QVERIFY(map);
        QCoreApplication::processEvents();
        QTest::mouseMove(map->viewport(), map->cellRect(2, 0).center().toPoint());
        QTRY_COMPARE(map->cross(), (std::pair<qint64, qint64>(2, 0)));
        QCOMPARE(viewer.pointedText(), QStringLiteral("query 2 \u201cb\u201d \u2192 key 0 \u201cc\u201d: 0.25; most: 2 "
                                                      "\u201cb\u201d 0.5, 0 \u201cc\u201d 0.25, 1 \u201ca\u201d 0.25"));
        QTest::mouseClick(map->viewport(), Qt::LeftButton, {}, map->cellRect(1, 1).center().toPoint());
        QVERIFY(map->isLocked());
        QTest::mouseMove(map->viewport(), map->cellRect(0, 2).center().toPoint());
        QCOMPARE(map->cross(), (std::pair<qint64, qint64>(1, 1)));
        QTest::keyClick(map, Qt::Key_Escape);
        QVERIFY(!map->isLocked());
    }

    void clickedElementsOfAttentionAreThoseOfTheHead() {
        TensorViewer viewer;
        viewer.resize(500, 700);
        viewer.show();
        viewer.setValue("a", attention());
        // The slice of other views has its rows elsewhere.
        viewer.setSlice({1, 2, {0, 1, 0, 0}});
        auto* map = seen<widgets::LabelledMap>(viewer);
        QVERIFY(map);
        QCOMPARE(map->valueAt(2, 1), 0.75);
        std::vector<std::int64_t> picked;
        connect(&viewer, &TensorViewer::elementPicked, this,
                [&](const std::vector<std::int64_t>& index) { picked = index; });
        QCoreApplication::processEvents();
        QTest::mouseClick(map->viewport(), Qt::LeftButton, {}, map->cellRect(2, 1).center().toPoint());
        QCOMPARE(picked, (std::vector<std::int64_t>{0, 1, 2, 1}));
    }

    void allHeadsAreAGridAndOneIsOpenedFromIt() {
        TensorViewer viewer;
        viewer.resize(500, 700);
        viewer.show();
        viewer.setValue("a", attention());
        auto* all = viewer.findChild<QToolButton*>(QStringLiteral("allHeads"));
        QVERIFY(all);
        all->click();
        auto* grid = seen<widgets::ImageGridView>(viewer);
        QVERIFY(grid);
        QCOMPARE(grid->pictureCount(), 2);
        // Kept for this tensor alone.
        viewer.setValue("b", attention());
        QVERIFY(!all->isChecked());
        viewer.setValue("a", attention());
        QVERIFY(all->isChecked());
        Q_EMIT grid->pictureActivated(1);
        QVERIFY(!all->isChecked());
        QCOMPARE(viewer.shown().slice.index[1], qint64(1));
        QCOMPARE(seen<widgets::LabelledMap>(viewer)->valueAt(2, 1), 0.75);
    }

    void tokensAreNamedByTheVocabulary() {
        TensorViewer viewer;
        viewer.resize(500, 700);
        viewer.show();
        std::vector<float> logits(24, 0);
        logits[3] = 10, logits[8 + 6] = 10, logits[16] = 10;
        viewer.setValue("logits", Tensor::of<float>(Shape{1, 3, 8}, logits));
        viewer.setTokens(letters());
        viewer.setCurrentView(QStringLiteral("tokens"));
        auto* table = seen<QTreeWidget>(viewer);
        QVERIFY(table);
        QTRY_COMPARE(table->topLevelItemCount(), 3);
        QCOMPARE(table->topLevelItem(0)->text(0), QStringLiteral("0 \u201cc\u201d"));
        // e^10 of e^10 + 7.
        QCOMPARE(table->topLevelItem(0)->text(1), QStringLiteral("\u201cd\u201d 100.0 %"));
        QVERIFY(table->topLevelItem(1)->text(1).startsWith(QStringLiteral("\u201cg\u201d")));
        QVERIFY(table->topLevelItem(2)->toolTip(1).contains(QStringLiteral("value 10")));
    }

    void filtersHaveOneRangeOrTheirOwn() {
        TensorViewer viewer;
        viewer.resize(500, 700);
        viewer.show();
        // Filter 0 goes to 1, filter 1 to 100: alone it is as bright.
        std::vector<float> weights(2 * 3 * 2 * 2, 0);
        weights[0] = 1, weights[12] = 100;
        viewer.setValue("w", Tensor::of<float>(Shape{2, 3, 2, 2}, weights));
        viewer.setCurrentView(QStringLiteral("filters"));
        auto* grid = seen<widgets::ImageGridView>(viewer);
        QVERIFY(grid);
        QCOMPARE(grid->pictureCount(), 2);
        const auto pixel = [&](int filter) {
            return qRed(grid->model()->index(filter, 0).data(Qt::DecorationRole).value<QImage>().pixel(0, 0));
        };
        QVERIFY(pixel(0) < 16);
        QCOMPARE(pixel(1), 255);
        viewer.findChild<QCheckBox*>(QStringLiteral("rangePerFilter"))->click();
        QCOMPARE(pixel(0), 255);
        QCOMPARE(pixel(1), 255);
    }

    void deadChannelsAreMarked() {
        TensorViewer viewer;
        viewer.resize(500, 700);
        viewer.show();
        viewer.setValue("x", Tensor::of<float>(Shape{1, 3, 1, 2}, {1, 0, 0, 0, 2, 3}));
        viewer.setCurrentView(QStringLiteral("sparsity"));
        auto* table = seen<QTableView>(viewer);
        QVERIFY(table);
        QTRY_COMPARE(table->model()->rowCount(), 3);
        QCOMPARE(table->model()->index(0, 1).data().toString(), QStringLiteral("50.0 %"));
        QVERIFY(table->model()->index(1, 1).data().toString().startsWith(QStringLiteral("dead")));
        table->sortByColumn(1, Qt::DescendingOrder);
        QCOMPARE(table->model()->index(0, 0).data().toInt(), 1);
        QCOMPARE(table->model()->index(2, 0).data().toInt(), 2);
    }

    void rowsArePointsThatAreNamed() {
        TensorViewer viewer;
        viewer.resize(500, 700);
        viewer.show();
        viewer.setValue("h", Tensor::of<float>(Shape{1, 3, 2}, {0, 0, 3, 4, 6, 8}));
        viewer.setTokens(letters());
        viewer.setCurrentView(QStringLiteral("pca"));
        auto* plot = seen<widgets::ScatterPlot>(viewer);
        QVERIFY(plot);
        QTRY_VERIFY(plot->accessibleDescription().contains(QStringLiteral("3")));
        plot->setCurrent(0);
        QTRY_COMPARE(viewer.pointedText(), QStringLiteral("row 0 \u201cc\u201d: (5, 0)"));
        // What is a row is kept for the tensor.
        auto* rows = viewer.findChild<QComboBox*>(QStringLiteral("pcaRows"));
        rows->setCurrentIndex(rows->findData(2));
        Q_EMIT rows->activated(rows->currentIndex());
        viewer.setValue("g", Tensor::of<float>(Shape{1, 3, 2}, {0, 0, 3, 4, 6, 8}));
        viewer.setCurrentView(QStringLiteral("pca"));
        QCOMPARE(rows->currentData().toInt(), -1);
        viewer.setValue("h", Tensor::of<float>(Shape{1, 3, 2}, {0, 0, 3, 4, 6, 8}));
        QCOMPARE(rows->currentData().toInt(), 2);
    }

    void aRowIsSeenAsSound() {
        TensorViewer viewer;
        viewer.resize(500, 700);
        viewer.show();
        // Silence, and a row that is 1 and -1 in turn: half the sampling rate.
        std::vector<float> samples(2048, 0);
        for (std::size_t i = 1024; i < samples.size(); ++i) samples[i] = i % 2 == 0 ? 1 : -1;
        viewer.setValue("s", Tensor::of<float>(Shape{2, 1024}, samples));
        viewer.setCurrentView(QStringLiteral("sound"));
        QCOMPARE(viewer.currentView(), QStringLiteral("sound"));
        auto* sound = seen<SoundView>(viewer);
        QVERIFY(sound);
        QTRY_COMPARE(sound->picture().samples, std::int64_t(1024));
        QCOMPARE(sound->picture().wave.front(), (std::pair<float, float>(0, 0)));
        viewer.setSlice({0, 1, {1, 0}});
        QTRY_VERIFY(sound->picture().wave.front() != (std::pair<float, float>(0, 0)));
        const session::SoundPicture& picture = sound->picture();
        QCOMPARE(picture.at(picture.bins - 1, 0), 0.0F);
        QCOMPARE(picture.at(1, 0), session::SoundPicture::kFloor);
        QVERIFY(sound->textAt({sound->width() / 2.0, 5}).startsWith(QStringLiteral("sample 5")));
        // 1,024 samples of a recording with 1,024 in a second
        viewer.setRecording("sound.wav#1024");
        viewer.setValue("r", Tensor::of<float>(Shape{2, 1024}, samples));
        viewer.setCurrentView(QStringLiteral("sound"));
        sound = seen<SoundView>(viewer);
        QVERIFY(sound);
        QTRY_COMPARE(sound->picture().rate, 1024);
        QVERIFY(sound->textAt({sound->width() / 2.0, 5}).startsWith(QStringLiteral("0.50 s")));
    }

    void integersAreSeenAsBits() {
        TensorViewer viewer;
        viewer.resize(500, 700);
        viewer.show();
        viewer.setValue("i", Tensor::of<std::int8_t>(Shape{1, 2, 2}, {1, 2, 3, -3}));
        viewer.setCurrentView(QStringLiteral("bits"));
        auto* table = seen<QTableView>(viewer);
        QVERIFY(table);
        QCOMPARE(table->model()->index(1, 1).data().toString(), QStringLiteral("11111101"));
        table->setCurrentIndex(table->model()->index(1, 1));
        QCOMPARE(viewer.pointedText(), QStringLiteral("[0, 1, 1] = -3"));
        QVERIFY(!isOffered(viewer, "tokens"));
        viewer.setValue("f", Tensor::of<float>(Shape{2}, {1, 2}));
        QVERIFY(!isOffered(viewer, "bits"));
    }

    void hostileValuesAreShownOrExplained() {
        TensorViewer viewer;
        viewer.resize(500, 700);
        viewer.show();
        const float nan = std::nanf(""), inf = std::numeric_limits<float>::infinity();
        for (const Tensor& tensor :
             {Tensor::of<float>(Shape{1, 2, 1, 2}, {nan, nan, 0.5F, 0.5F}),
              Tensor::of<float>(Shape{2, 2}, {nan, inf, -inf, 1}),
              Tensor::of<float>(Shape{1, 8}, std::vector<float>(8, nan)),
              Tensor::zeros(DType::Float32, Shape{2, 3, 0, 2}).value(),
              Tensor::of<float>(Shape{2, 1, 1, 2}, {nan, inf, -inf, nan}), Tensor::scalar(1.0F)}) {
            viewer.setValue("x", tensor);
            int shown = 0;
            for (const TensorViewInfo& view : tensorViews()) {
                if (!view.accepts(tensor)) continue;
                viewer.setCurrentView(view.id);
                QCOMPARE(viewer.currentView(), view.id);
                QTest::qWait(20);
                viewer.grab();
                ++shown;
            }
            QVERIFY(shown > 0);
        }
    }
};

QTEST_MAIN(TestSpecialViews)

}  // namespace tst_special_views

#include "tst_special_views.moc"
