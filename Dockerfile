# JupyterLab, the GoNB kernel and every lesson, ready to run without a network:
#
#   docker build -t latent .
#   docker run --rm -p 127.0.0.1:8888:8888 latent
#
# It prints an address with a token; open that in a browser. The container runs
# as a user without rights (--build-arg NB_UID=…) or as any other (--user …).
FROM golang:1.26-bookworm

RUN apt-get update \
 && apt-get install -y --no-install-recommends curl python3-venv tini \
 && rm -rf /var/lib/apt/lists/*

# Caches, kernel and lessons lie outside $HOME, which JupyterHub mounts over.
ENV GOPATH=/opt/go GOCACHE=/opt/go/cache HOME=/home/student \
    PATH=/opt/jupyter/bin:/usr/local/go/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
WORKDIR /opt/latent

COPY cmd/lessons/requirements*.txt cmd/lessons/
RUN python3 -m venv /opt/jupyter \
 && pip install --no-cache-dir --no-compile --require-hashes \
      -r cmd/lessons/requirements.txt -r cmd/lessons/requirements-hub.txt

COPY go.mod go.sum ./
RUN go mod download && chmod -R a+rwX /opt/go

# Executing the lessons fills the build cache with all that their cells need.
# Everybody may write: whoever runs the container edits notebooks and builds.
COPY . .
RUN go build -o /usr/local/bin/lessons ./cmd/lessons \
 && lessons kernel -dir /usr/local/share/jupyter \
 && lessons run -w \
 && ln -s /usr/local/go/bin/go /usr/local/go/bin/gofmt /opt/jupyter/bin/jupyter* /usr/local/bin/ \
 && chmod -R a+rwX /opt/go/cache /opt/latent

ARG NB_UID=1000
RUN useradd --uid "$NB_UID" --create-home --shell /bin/bash student && chmod a+rwx /home/student
USER student

# From here on nothing is fetched: what is missing is an error at once.
ENV GOPROXY=off GOFLAGS=-modcacherw
EXPOSE 8888
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD curl --fail --silent --output /dev/null http://127.0.0.1:8888/api
ENTRYPOINT ["tini", "--"]
CMD ["jupyter", "lab", "--ip=0.0.0.0", "--port=8888", "--no-browser", "--ServerApp.root_dir=/opt/latent", "--LabApp.default_url=/lab/tree/notebooks"]
