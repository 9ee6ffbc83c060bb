#include <QVBoxLayout>

#include <limits>

#include "core/io/inputs/recording.h"
#include "core/session/sound/sound_picture.h"
#include "core/tensor/plane.h"
#include "ui/context/count_text.h"
#include "ui/context/job.h"
#include "ui/panels/sound_view.h"
#include "ui/panels/tensor_viewer/tensor_view.h"
#include "ui/theme/theme.h"
#include "ui/widgets/labels.h"
#include "ui/widgets/number_text.h"

namespace sonde::panels {
namespace {

constexpr std::int64_t kMaxSoundColumns = 1200;  ///< of the picture

std::vector<int> soundAxes(const tensor::Tensor& tensor, ChannelLayout) {
    return {static_cast<int>(tensor.rank()) - 1};
}

/// Waveform and spectrogram of a row.
class Sound : public TensorView {
  public:
    Sound() : m_facts(new widgets::ElidedLabel({}, this)), m_picture(new SoundView(this)) {
        constexpr int kMinHeight = 180;  // pixels
        m_facts->setElideMode(Qt::ElideRight);
        m_picture->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
        m_picture->setMinimumHeight(kMinHeight);
        auto* column = new QVBoxLayout(this);
        column->setContentsMargins(0, 0, 0, 0);
        column->setSpacing(theme::kTight);
        column->addWidget(m_facts);
        column->addWidget(m_picture, 1);
        connect(m_picture, &SoundView::pointed, this,
                [this](const QString& text) { Q_EMIT pointed(text, std::numeric_limits<double>::quiet_NaN()); });
    }

    widgets::Slice drawnSlice(const ViewedTensor& shown) const override {
        return {-1, static_cast<int>(shown.tensor.rank()) - 1, shown.slice.index};
    }

    void show(const ViewedTensor& shown) override {
        const widgets::Slice slice = drawnSlice(shown);
        const tensor::Tensor row = tensor::plane(shown.tensor, slice.rowAxis, slice.columnAxis,
                                                 std::vector<std::int64_t>(slice.index.begin(), slice.index.end()));
        const bool isSame = areSameElements(m_row, row);
        m_row = row;
        if (isSame && m_recording == shown.recording) return;
        m_recording = shown.recording;
        m_facts->setText(tr("computing the spectrogram\u2026"));
        m_job.start(
            [row, item = m_recording](const base::WorkContext& work) {
                const auto rate = item.empty() ? base::Result<int>(0) : io::recordingRate(item);
                return session::soundPicture(row, rate ? *rate : 0, kMaxSoundColumns, work.stop);
            },
            [this](base::Result<session::SoundPicture> found) {
                if (!found) return m_facts->setText(QString::fromStdString(found.error().what));
                m_facts->setText(factsText(*found));
                m_picture->setPicture(std::move(*found));
            });
    }

  private:
    /// "0.036 s, 576 samples at 16,000 Hz; 257 frequencies from 0 to 8,000 Hz", or without a rate "576 samples; …".
    static QString factsText(const session::SoundPicture& picture) {
        if (picture.rate > 0)
            return tr("%1 s, %2 samples at %3 Hz; %4 frequencies from 0 to %5 Hz")
                .arg(widgets::numberText(picture.seconds(), 4), context::countText(picture.samples),
                     context::countText(picture.rate), context::countText(picture.bins),
                     context::countText(picture.rate / 2));
        return tr("%1 samples; %2 frequencies from 0 to half the sampling rate")
            .arg(context::countText(picture.samples), context::countText(picture.bins));
    }

    widgets::ElidedLabel* m_facts;
    SoundView* m_picture;
    tensor::Tensor m_row;
    std::string m_recording;
    context::Job m_job;
};

}  // namespace

TensorViewInfo soundView() {
    TensorViewInfo info;
    info.id = QStringLiteral("sound");
    info.title = QStringLiteral("Sound");
    info.icon = QStringLiteral("sound");
    info.description = QStringLiteral("Waveform and spectrogram of a row");
    info.accepts = session::mayBeSound;
    info.usesSlice = true;
    info.ownAxes = soundAxes;
    info.isSpecial = true;
    info.factory = [] { return new Sound; };
    return info;
}

}  // namespace sonde::panels
